import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../src/app/ports.ts";
import * as app from "../../src/app/app.ts";
import { readSealingKey } from "../../src/config/sealing-key.ts";
import { operations } from "../../src/contract/index.ts";
import { createSealer } from "../../src/engine/kernel/sealer.ts";
import type { Service } from "../../src/service/service.ts";
import { openDatabase } from "../../src/storage/database.ts";
import type { Harness } from "../support/backends.ts";
import { type CommandCall, commandCalls, type Seen } from "../support/command-calls.ts";
import { readStoredEmails, createLinkTokens } from "../support/email-links.ts";
import { lastToken } from "../support/emails.ts";
import { signBySecret } from "../support/provider-events.ts";
import { isSlowSuite } from "../support/suite-size.ts";
import { run } from "./support.ts";

/** Wraps the service and records the calls made to it. */
function recordCalls(service: Service, made: string[]): Service {
  const verbsOf = (group: string, verbs: object) =>
    new Proxy(verbs, {
      get: (held, verb: string) => {
        made.push(`${group}.${verb}`);
        return Reflect.get(held, verb) as unknown;
      },
    });
  return new Proxy(service, { get: (held, group: string) => verbsOf(group, Reflect.get(held, group) as object) });
}

/** Creates an app that records the calls of each command. */
function recordingApp(made: string[]): () => Promise<App> {
  return async () => ({
    ...app,
    openConnection: async (settings) => {
      const connection = await app.openConnection(settings);
      return { ...connection, service: recordCalls(connection.service, made) };
    },
  });
}

/** Returns the value at a field path such as `reviews.0.id`. */
function find(data: unknown, path: string): string {
  const found = path.split(".").reduce<unknown>((held, key) => (held as Record<string, unknown>)[key], data);
  return typeof found === "string" ? found : JSON.stringify(found);
}

// A remote account uses everything that a local one does, and the protocol.
const modes = isSlowSuite ? (["local", "remote"] as const) : (["remote"] as const);

describe.each(modes)("commands for every operation, %s", (mode) => {
  const folder = mkdtempSync(join(tmpdir(), "starpost-calls-"));
  const home = { STARPOST_HOME: folder, STARPOST_PUBLIC_URL: "http://localhost", STARPOST_KEYRING: "off" };
  const seen: Seen = {};
  const made: string[] = [];
  let env: Record<string, string> = home;
  let close = async () => {};

  /** Runs a command line without a terminal. */
  const call = (words: readonly string[], stdin?: string) =>
    run([...words, "--json"], { env, ...(stdin !== undefined && { stdin }), io: { loadApp: recordingApp(made) } });

  beforeAll(async () => {
    await call(["init", "--local"]);
    const { stdout } = await call(["auth", "credentials"]);
    if (mode === "local") return;
    const { app_key, secret } = JSON.parse(stdout) as { app_key: string; secret: string };
    const server = await app.startServer({
      ...(await host()),
      profile: { name: "local", mode: "local", database: join(folder, "starpost.db"), shownAs: "db", isLive: false },
      host: "127.0.0.1",
      port: 0,
      limitLegacy: false,
      hasWorker: false,
      allowsSignUp: true,
      version: "1.2.3",
      logLevel: "error",
      log: process.stderr,
    });
    env = { ...home, STARPOST_BASE_URL: server.url, STARPOST_APP_KEY: app_key, STARPOST_SECRET: secret };
    close = () => server.close();
  });

  afterAll(async () => {
    await close();
    rmSync(folder, { recursive: true, force: true });
  });

  const host = async () => {
    const { resolvePaths } = await import("../../src/config/paths.ts");
    const { randomBytes } = await import("node:crypto");
    return { paths: await resolvePaths(home, folder), env: home, clock: Date.now, random: randomBytes };
  };

  /** Reads a token from an email link in the database. */
  const readToken = async (name: NonNullable<CommandCall["token"]>) => {
    const { paths } = await host();
    const database = await openDatabase(paths.database, { nowMs: Date.now() });
    try {
      const key = await readSealingKey({}, paths.keyFile);
      const harness = {
        database,
        sealer: createSealer(key ?? Buffer.alloc(32)),
        clock: Date.now,
      } as unknown as Harness;
      if (name === "verify_url" || name === "confirm_url") return await lastToken(harness, name);
      const mail = (await readStoredEmails(harness)).find(({ productRow }) => productRow > 0);
      const tokens = createLinkTokens(harness, mail ?? { mailId: 0, accountId: 0, productRow: 0 });
      if (name === "review") return tokens.review();
      if (name === "answer") return tokens.answer(1);
      return name === "open" ? tokens.open() : tokens.click("https://shop.example/");
    } finally {
      await database.db.destroy();
    }
  };

  const fill = (text: string) =>
    text.replaceAll(/^\{(\w+)\}$/g, (_whole, name: string) => {
      if (seen[name] === undefined) throw new Error(`${name} was not seen yet`);
      return seen[name];
    });

  test("covers every operation", () => {
    const called = new Set(commandCalls.map((one) => one.call));
    expect([...operations.keys()].filter((name) => !called.has(name))).toEqual([]);
  });

  test.each(commandCalls.map((one, at) => [`${at} ${one.words.slice(0, 2).join(" ")}`, one] as const))(
    "%s",
    async (_line, { call: operation, words, stdin, status = 0, keep = {}, token }) => {
      if (token) seen["token"] = await readToken(token);
      if (operation === "emailEvents.receive") {
        const body = JSON.stringify([{ event: "open", sg_event_id: "1", email: "a@mail.example" }]);
        seen["signed_events"] = JSON.stringify(signBySecret(body, seen["events_secret"] ?? "", Date.now()));
      }
      made.length = 0;
      const ran = await call(words.map(fill), stdin === undefined ? undefined : fill(stdin));
      expect(ran, ran.stderr).toMatchObject({ status });
      expect(made).toContain(operation);
      const data: unknown = JSON.parse(ran.stdout);
      for (const [name, path] of Object.entries(keep)) seen[name] = find(data, path);
    },
  );
});
