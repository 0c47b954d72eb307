import { randomBytes } from "node:crypto";
import { afterEach, beforeEach } from "vitest";
import { ensureFirstAccount } from "../../src/engine/accounts/first-account.ts";
import { createLocalTransport } from "../../src/engine/local-transport.ts";
import { createSealer } from "../../src/engine/kernel/sealer.ts";
import { createServer } from "../../src/server/server.ts";
import { openDatabase } from "../../src/storage/database.ts";
import { placeOnSqlite } from "./databases.ts";
import { silentLog } from "./silent-log.ts";

/** The time of every call, unless a test moves it. */
const startMs = Date.UTC(2026, 2, 15, 12);

export interface WireReply {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Headers;
}

export interface RawReply {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

/** A mail that waits to be sent. */
export interface QueuedMail {
  readonly category: string;
  readonly email_type_id: number;
  readonly email: string;
  /** The opaque token of the link that the mail holds, where it holds one. */
  readonly linkToken: string | undefined;
}

/** The server as anyone sees it who speaks HTTP, and one account of it. */
export interface Wire {
  readonly appKey: string;
  readonly secret: string;
  readonly utoken: string;
  readonly ask: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<WireReply>;
  /** Asks for what is not JSON: a page, a script. */
  readonly raw: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<RawReply>;
  /** The mails of every account that wait to be sent, in the order in which they were queued. */
  readonly mails: () => Promise<readonly QueuedMail[]>;
  /** Switches a feature of the account off, for which there is no call. */
  readonly disable: (feature: string) => Promise<void>;
  /** Moves the server's time. */
  readonly advance: (ms: number) => void;
}

/** Starts the server with its limits kept, anew for each test of the file. */
export function useWire(): () => Wire {
  let held: (Wire & { close(): Promise<void> }) | undefined;
  beforeEach(async () => {
    held = await openWire();
  });
  afterEach(async () => {
    await held?.close();
    held = undefined;
  });
  return () => {
    if (!held) throw new Error("the server runs only while a test does");
    return held;
  };
}

async function openWire(): Promise<Wire & { close(): Promise<void> }> {
  const place = await placeOnSqlite();
  let nowMs = startMs;
  const clock = () => nowMs;
  const database = await openDatabase(place.url, { nowMs });
  const sealer = createSealer(randomBytes(32));
  const keys = await ensureFirstAccount(database, { sealer, clock, random: randomBytes });
  const transport = createLocalTransport({
    database,
    clock,
    random: randomBytes,
    sealer,
    enforceLimits: true,
  });
  const server = createServer(transport, { logger: silentLog, clock });
  const { url } = await server.listen({ host: "127.0.0.1", port: 0 });
  const send: (...sent: Parameters<Wire["ask"]>) => Promise<Response> = (method, path, body, headers = {}) =>
    fetch(url + path, {
      method,
      headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
  const ask: Wire["ask"] = async (...sent) => {
    const response = await send(...sent);
    return { status: response.status, body: await response.json(), headers: response.headers };
  };
  const issued = await ask("POST", "/oauth/token", {
    client_id: keys.appKey,
    client_secret: keys.secret,
    grant_type: "client_credentials",
  });
  return {
    ...keys,
    utoken: (issued.body as { access_token: string }).access_token,
    ask,
    raw: async (...sent) => {
      const response = await send(...sent);
      return { status: response.status, text: await response.text(), headers: response.headers };
    },
    mails: async () => {
      const queued = await database.db
        .selectFrom("mails")
        .where("state", "=", "queued")
        .select(["category", "email_type_id", "email", "data"])
        .orderBy("id")
        .execute();
      return queued.map(({ category, email_type_id, email, data }) => ({
        category,
        email_type_id,
        email,
        linkToken: /\/starpost\/v1\/(?:l|links)\/([^"\\/?#\s]+)/.exec(data)?.[1],
      }));
    },
    disable: async (feature) => {
      await database.db
        .insertInto("account_features")
        .values({ account_id: 1, feature, enabled: 0 })
        .execute();
    },
    advance: (ms) => {
      nowMs += ms;
    },
    close: async () => {
      await server.close();
      await transport.close();
      await place.remove();
    },
  };
}
