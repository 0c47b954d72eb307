import type { SendRaw } from "../service/raw-call.ts";
import type { Transport } from "../service/transport.ts";

/** An account and what carries calls to it, unsigned. */
export interface Account {
  readonly transport: Transport;
  /** Sends what the contract may not have, unsigned as well. */
  readonly send: SendRaw;
  readonly appKey: string;
  readonly secret: string | undefined;
  /** One connection of the engine carries out calls in order; several overtake each other, as do those over HTTP. */
  readonly keepsOrder: boolean;
  /** The service's address, or the database as a person may see it. */
  readonly target: string;
}
