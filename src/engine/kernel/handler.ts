import type { Transaction } from "kysely";
import type * as z from "zod";
import type { Endpoint } from "../../contract/index.ts";
import type { DialectName } from "../../storage/dialect.ts";
import type { Tables } from "../../storage/tables.ts";
import type { SavedProducts } from "./saved-products.ts";
import type { Sealer } from "./sealer.ts";

/** The account that a call is made for, known to be there. */
export interface Account {
  readonly id: number;
  readonly appKey: string;
  /** Of a call that heeds a utoken and came with one: whether it is valid. */
  readonly isStore?: boolean | undefined;
}

/** Gives `bytes` random bytes. */
export type RandomBytes = (bytes: number) => Buffer;

/** All that a handler may use: the call's own transaction, and what is injected. */
export interface HandlerContext {
  readonly transaction: Transaction<Tables>;
  readonly dialect: DialectName;
  /** Absent for calls that anyone may make. */
  readonly account?: Account;
  /** The time of the call, milliseconds. */
  readonly nowMs: number;
  readonly random: RandomBytes;
  readonly sealer: Sealer;
  readonly savedProducts: SavedProducts;
  /** Where the service is reached by everybody, without a slash at its end. */
  readonly publicUrl: string;
  /** How late the bottom lines of all products are, milliseconds. */
  readonly bottomLinesDelayMs: number;
  /** Whether webhooks may be of machines of the own network; not where absent. */
  readonly allowsPrivateWebhooks?: boolean | undefined;
  /** The contract's shapes were applied to the input's elements already. */
  readonly isChecked?: boolean | undefined;
}

type Handler<E extends Endpoint> = (
  input: z.output<E["input"]>,
  context: HandlerContext,
) => Promise<z.output<E["output"]>>;

/** A handler for every call of a contract group, under the same names. */
export type Handlers<G extends Record<string, Endpoint>> = { readonly [V in keyof G]: Handler<G[V]> };

/** The account of a call that the contract lets only an account make. */
export function accountOf(context: HandlerContext): Account {
  if (!context.account) throw new Error("a handler asks for the account of a call that anyone may make");
  return context.account;
}
