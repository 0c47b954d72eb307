import { ServiceError } from "../../../src/contract/index.ts";
import { createHttpTransport } from "../../../src/client/http-transport.ts";
import { createService, type Service } from "../../../src/service/service.ts";
import { withToken } from "../../../src/service/with-token.ts";
import type { CallOptions } from "../../../src/service/transport.ts";
import { Ledger } from "./ledger.ts";

/** What a load creates in an account, by the kind of record. */
export const recordKinds = [
  "orders",
  "reviews",
  "public reviews",
  "review votes",
  "products",
  "unsubscribers",
  "questions",
  "answers",
  "answer votes",
] as const;
export type RecordKind = (typeof recordKinds)[number];

/** An account under load, and what the clients know about it. */
export interface LoadedAccount {
  readonly appKey: string;
  readonly secret: string;
  readonly ledgers: Readonly<Record<RecordKind, Ledger>>;
  readonly reviewIds: number[];
  readonly questionIds: number[];
  readonly answerIds: number[];
}

export function newLoadedAccount(keys: { readonly app_key: string; readonly secret: string }): LoadedAccount {
  const ledgers = Object.fromEntries(recordKinds.map((kind) => [kind, new Ledger()]));
  return {
    appKey: keys.app_key,
    secret: keys.secret,
    ledgers: ledgers as LoadedAccount["ledgers"],
    reviewIds: [],
    questionIds: [],
    answerIds: [],
  };
}

/** A client of an account on one server, with the transport that `starpost` commands use. */
export interface AccountClient {
  /** Calls as the store. */
  readonly store: Service;
  /** Calls without a token, as shoppers make them. */
  readonly shopper: Service;
  close(): Promise<void>;
}

export function openClient(baseUrl: string, { appKey, secret }: LoadedAccount): AccountClient {
  const transport = createHttpTransport({ baseUrl, ratePerSecond: 0, clock: Date.now });
  const cache = { read: async () => undefined, write: async () => {}, clear: async () => {} };
  const signed = withToken(transport, { appKey, readSecret: async () => secret, cache, clock: Date.now });
  return {
    store: createService(signed, { appKey }),
    shopper: createService(transport, { appKey }),
    close: () => transport.close(),
  };
}

/** Makes a call that creates a record, and notes its result. @throws unless the call succeeded, or may be repeated */
export async function record<T>(
  ledger: Ledger,
  key: string,
  call: (options: CallOptions) => Promise<T>,
): Promise<T | undefined> {
  let mayBeDone = false;
  const onEvent: CallOptions["onEvent"] = (event) => {
    if (event.type === "wait") mayBeDone ||= event.mayBeDone === true;
  };
  try {
    const result = await call({ idempotencyKey: key, onEvent });
    ledger.acknowledged.add(key);
    return result;
  } catch (error) {
    if (!(error instanceof ServiceError) || !error.temporary) throw error;
    if (mayBeDone || error.outcomeUnknown) ledger.uncertain.add(key);
    return undefined;
  }
}
