import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { ensureFirstAccount } from "../../src/engine/accounts/first-account.ts";
import { createLocalTransport } from "../../src/engine/local-transport.ts";
import { createSealer } from "../../src/engine/kernel/sealer.ts";
import { createService, type Service } from "../../src/service/service.ts";
import { openDatabase } from "../../src/storage/database.ts";
import { firstPlace } from "./databases.ts";
import { createOpenApiChecker } from "./openapi-checker.ts";
import { takeServer } from "./shared-server.ts";

/** The time of every request, unless a test advances the clock. */
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

/** An email in the queue. */
export interface QueuedEmail {
  readonly category: string;
  readonly email_type_id: number;
  readonly email: string;
  /** The opaque token of the link in the email, if it contains one. */
  readonly linkToken: string | undefined;
}

const documentPath = join(import.meta.dirname, "../../docs/reference/openapi.json");
/** Lists the differences between a response and the published OpenAPI document. */
export const { findFaults: findDocumentFaults } = createOpenApiChecker(
  JSON.parse(readFileSync(documentPath, "utf8")) as Record<string, unknown>,
);

/** The server as an HTTP client sees it, and the keys of one account. Each response must match the OpenAPI document. */
export interface Wire {
  readonly url: string;
  readonly appKey: string;
  readonly secret: string;
  readonly utoken: string;
  /** Makes calls with the app key, without HTTP. */
  readonly service: Service;
  readonly request: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<WireReply>;
  /** Sends a request of the account, whose app key replaces `{app}`, with its utoken in the query of a GET or in the body. */
  readonly own: (method: string, path: string, fields?: object) => Promise<WireReply>;
  /** Sends a request whose response is not JSON, such as a page or a script. */
  readonly raw: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<RawReply>;
  /** Returns the queued emails of all accounts, oldest first. */
  readonly emails: () => Promise<readonly QueuedEmail[]>;
  /** Disables a feature of the account in the database, because no operation does. */
  readonly disable: (feature: string) => Promise<void>;
  /** Advances the server's clock. */
  readonly advance: (ms: number) => void;
}

export interface WireOptions {
  /** The limits of calls without a token (default: none), by name. */
  readonly publicLimits?: Readonly<Record<string, { readonly burst: number; readonly perHour: number }>>;
  readonly trustedProxies?: readonly string[];
}

/** Serves a new database, with rate limits enforced, in each test of the file. */
export function useWire(options: WireOptions = {}): () => Wire {
  let openedWire: (Wire & { close(): Promise<void> }) | undefined;
  beforeEach(async () => {
    openedWire = await openWire(options);
  });
  afterEach(async () => {
    await openedWire?.close();
    openedWire = undefined;
  });
  return () => {
    if (!openedWire) throw new Error("the server runs only during a test");
    return openedWire;
  };
}

async function openWire({ publicLimits, trustedProxies }: WireOptions): Promise<Wire & { close(): Promise<void> }> {
  const place = await firstPlace();
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
    publicLimits,
  });
  const { url, release } = await takeServer(transport, { clock, trustedProxies });
  const raw: Wire["raw"] = async (method, path, body, headers = {}) => {
    const response = await fetch(url + path, {
      method,
      headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const reply = { status: response.status, text: await response.text(), headers: response.headers };
    expect(findDocumentFaults(method, path, reply), `${method} ${path}`).toEqual([]);
    return reply;
  };
  const request: Wire["request"] = async (...args) => {
    const { text, ...reply } = await raw(...args);
    return { ...reply, body: JSON.parse(text) as unknown };
  };
  const { access_token: utoken } = await createService(transport, keys).tokens.create({
    client_id: keys.appKey,
    client_secret: keys.secret,
    grant_type: "client_credentials",
  });
  return {
    url,
    ...keys,
    utoken,
    service: createService(transport, { appKey: keys.appKey }),
    request,
    raw,
    own: (method, path, fields) => {
      const ownPath = path.replace("{app}", keys.appKey);
      if (method !== "GET") return request(method, ownPath, { utoken, ...fields });
      return request(method, `${ownPath}${path.includes("?") ? "&" : "?"}utoken=${utoken}`);
    },
    emails: async () => {
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
      await database.db.insertInto("account_features").values({ account_id: 1, feature, enabled: 0 }).execute();
    },
    advance: (ms) => {
      nowMs += ms;
    },
    close: async () => {
      release();
      await transport.close();
      await place.remove();
    },
  };
}
