/** A webhook request, to be signed with the secret of its webhook. */
export interface ForwardedEvent {
  readonly eventId: string;
  readonly body: string;
  readonly secret: string;
}

export interface ForwardOutcome {
  readonly durationMs: number;
  /** Undefined if there was no response. */
  readonly status: number | undefined;
  /** Why it failed, if it did. */
  readonly problem: string | undefined;
}

/** Sends a request. Never throws. */
export type ForwardWebhook = (event: ForwardedEvent, signal: AbortSignal) => Promise<ForwardOutcome>;

export interface ForwardSettings {
  /** Where to send requests; any address is allowed. */
  readonly url: string;
  readonly clock: () => number;
  readonly version: string;
}

/** What commands may ask of the application to forward webhooks. */
export interface WebhookForwarding {
  /** Opens a sender of requests that are signed as those of a worker. */
  readonly openForwarder: (settings: ForwardSettings) => ForwardWebhook;
}
