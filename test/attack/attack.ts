import type { Socket } from "node:net";
import type { CountingMailServer } from "../support/counting-mail-server.ts";
import type { Random } from "../fuzz/random.ts";

/** The keys of a store. */
export interface AttackedAccount {
  readonly appKey: string;
  readonly secret: string;
  readonly utoken: string;
}

export interface AttackReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** Parses the text. */
  readonly json: () => unknown;
}

/** Sends a request; a body that is neither text nor bytes is sent as JSON. Rejects if the connection fails. */
export type Send = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<AttackReply>;

/** A running `starpost serve` with a public URL and an SMTP server, and what an attacker knows about it. */
export interface Target {
  readonly url: string;
  /** The attacked store: the first account of the database, which may send email. */
  readonly account: AttackedAccount;
  /** A second store, created by signing up. */
  readonly otherAccount: AttackedAccount;
  /** A third store, which may send webhooks to private addresses, as may the first. */
  readonly neighbor: AttackedAccount;
  /** Sends from an address that no other attack uses. */
  readonly send: Send;
  /** Sends from another address: that of the store itself, or of a second shopper. */
  readonly sendFrom: (address: string) => Send;
  /** Opens a connection from the attacker's address. */
  readonly connect: () => Promise<Socket>;
  /** Opens a connection from another address. */
  readonly connectFrom: (address: string) => Promise<Socket>;
  /** The SMTP server that the worker sends to. */
  readonly mail: CountingMailServer;
  /** The path or address of the database. */
  readonly database: string;
  /** The process of the server. */
  readonly pid: number;
  readonly random: Random;
}

/** What an attack achieved. */
export interface Outcome {
  /** A few words for the table, such as `3 of 500 emails sent`. */
  readonly result: string;
  /** Whether the service held. The runner also checks that it did not crash, its event loop, and its memory. */
  readonly held: boolean;
}

/** An attack, exported from a file in `attacks/`; the runner finds it there. */
export interface Attack {
  readonly name: string;
  /** The only database that the attack concerns (default: both). */
  readonly only?: "sqlite";
  /** Further flags of `serve`; the attack then has a server process of its own. */
  readonly serve?: readonly string[];
  /** Whether the attack damages its database, so that it needs a new one (default: false). */
  readonly damagesDatabase?: boolean;
  readonly run: (target: Target) => Promise<Outcome>;
}

/** The limits that every attack is held to. */
export const attackLimits = { delayMs: 200, memoryMb: 400 } as const;
