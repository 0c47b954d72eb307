import type { Transaction } from "kysely";
import type * as z from "zod";
import { type Endpoint, ServiceError } from "../../contract/index.ts";
import type { StorageDialect } from "../../storage/dialect.ts";
import type { Tables } from "../../storage/tables.ts";
import type { SavedProducts } from "./saved-products.ts";
import type { Sealer } from "./sealer.ts";

/** The existing account that a call is made for. */
export interface Account {
  readonly id: number;
  readonly appKey: string;
  /** Increases whenever rows of the account change. Absent outside of calls. */
  readonly version?: number | undefined;
  /** Whether the utoken is valid. Set only if the operation accepts an optional utoken and the call has one. */
  readonly isStore?: boolean | undefined;
}

/** Returns `bytes` random bytes. */
export type RandomBytes = (bytes: number) => Buffer;

/** Everything a handler may use: the transaction of the call, and injected dependencies. */
export interface HandlerContext {
  readonly transaction: Transaction<Tables>;
  readonly dialect: StorageDialect;
  /** Absent for operations that anyone may call. */
  readonly account?: Account;
  /** For an operation without an account: the account of the record or the signed link that the call names, if it exists. */
  readonly ownerId?: number | undefined;
  /** The time of the call, in milliseconds since the epoch. */
  readonly nowMs: number;
  readonly random: RandomBytes;
  readonly sealer: Sealer;
  readonly savedProducts: SavedProducts;
  /** The service's public base URL, without a trailing slash. */
  readonly publicUrl: string;
  /** Replaces the account's delay of the bottom lines of all products, in milliseconds. */
  readonly bottomLinesDelayMs?: number | undefined;
  /** The app key of the account whose webhooks this machine allows to call private addresses. */
  readonly privateWebhooksFor?: string | undefined;
  /** Whether only people with an invitation may create accounts (default: false). */
  readonly isSignUpClosed?: boolean | undefined;
  /** The caller has already validated the input's elements against the contract. */
  readonly isChecked?: boolean | undefined;
}

/** Database work outside a call: how a worker reads and updates the outbox. */
export interface EngineWork {
  /** Runs `work` on one snapshot of the database. */
  readonly read: <T>(work: (context: HandlerContext) => Promise<T>) => Promise<T>;
  /**
   * Runs `work` in one write transaction, after the writes of the account that are already queued. It may change only rows
   * of that account; without an account, only rows that belong to none.
   */
  readonly write: <T>(accountId: number | undefined, work: (context: HandlerContext) => Promise<T>) => Promise<T>;
}

type Handler<E extends Endpoint> = (
  input: z.output<E["input"]>,
  context: HandlerContext,
) => Promise<z.output<E["output"]>>;

/** A handler for every operation of a contract group, under the same names. */
export type Handlers<G extends Record<string, Endpoint>> = { readonly [V in keyof G]: Handler<G[V]> };

export function accountOf(context: HandlerContext): Account {
  if (!context.account) throw new Error("a handler requested the account of a call that has none");
  return context.account;
}

/**
 * Returns the result of one call that was handled like several.
 * @throws ServiceError if the call was rejected
 */
export function resultOf<T>([result]: readonly (T | ServiceError)[]): T {
  if (result instanceof ServiceError) throw result;
  if (result === undefined) throw new Error("a call has no result");
  return result;
}

/** The ID of the account whose rows a call reads or changes. */
export function accountIdOf({ account, ownerId }: Pick<HandlerContext, "account" | "ownerId">): number {
  const id = account?.id ?? ownerId;
  if (id === undefined) throw new Error("a handler requested the account of a call that has none");
  return id;
}

/** Creates the handler of one call from one that handles several together. */
export function forOneCall<Input, Output>(
  handleAll: (inputs: readonly Input[], context: HandlerContext) => Promise<readonly Output[]>,
) {
  return async (input: Input, context: HandlerContext): Promise<Output> => {
    const [output] = await handleAll([input], context);
    if (output === undefined) throw new Error("a call has no result");
    return output;
  };
}
