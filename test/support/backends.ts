import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe } from "vitest";
import { createHttpTransport } from "../../src/client/http-transport.ts";
import { createLocalTransport } from "../../src/engine/local-transport.ts";
import { createSealer } from "../../src/engine/sealer.ts";
import { createServer } from "../../src/http/server.ts";
import { createService, type Service } from "../../src/service/service.ts";
import type { Caller, Transport } from "../../src/service/transport.ts";
import { type Database, openDatabase } from "../../src/storage/database.ts";
import { silentLog } from "./silent-log.ts";

/** A clock that only a test moves. */
export interface TestClock {
  (): number;
  advance: (ms: number) => void;
}

/** An account made for a test, and the service as it sees it. */
export interface TestAccount {
  readonly caller: { readonly appKey: string; readonly utoken: string };
  readonly secret: string;
  readonly userId: number;
  readonly service: Service;
}

export interface Harness {
  readonly transport: Transport;
  /** What the transport stores in, for states that no call brings about. */
  readonly database: Database;
  readonly clock: TestClock;
  readonly service: (caller: Caller) => Service;
  readonly newAccount: (displayName?: string) => Promise<TestAccount>;
  readonly close: () => Promise<void>;
}

export interface Backend {
  readonly name: string;
  readonly open: (options?: { readonly enforceLimits?: boolean }) => Promise<Harness>;
}

/** Noon of a day, so that a test can move by hours without changing the day. */
export const startMs = Date.UTC(2026, 2, 15, 12);

export function createClock(nowMs = startMs): TestClock {
  let now = nowMs;
  return Object.assign(() => now, {
    advance: (ms: number) => {
      now += ms;
    },
  });
}

interface LimitOptions {
  readonly enforceLimits?: boolean;
}

type HarnessParts = Pick<Harness, "transport" | "database" | "clock" | "close">;

async function openLocalSqlite({ enforceLimits = false }: LimitOptions = {}): Promise<HarnessParts> {
  const folder = await mkdtemp(join(tmpdir(), "starpost-test-"));
  const clock = createClock();
  const database = await openDatabase(join(folder, "starpost.db"), { nowMs: clock() });
  const sealer = createSealer(randomBytes(32));
  const transport = createLocalTransport({ database, clock, random: randomBytes, sealer, enforceLimits });
  return {
    transport,
    database,
    clock,
    close: async () => {
      await transport.close();
      await rm(folder, { recursive: true });
    },
  };
}

const localSqlite: Backend = {
  name: "local-sqlite",
  open: async (options) => createHarness(await openLocalSqlite(options)),
};

/** The same store behind the server, reached by the client: over loopback, unpaced, each call tried once. */
const remoteSqlite: Backend = {
  name: "remote-sqlite",
  open: async (options) => {
    const local = await openLocalSqlite(options);
    const server = createServer(local.transport, { logger: silentLog });
    const { url } = await server.listen({ host: "127.0.0.1", port: 0 });
    // The client waits in real time, whatever the time of the store.
    const clock = () => Date.now();
    const transport = createHttpTransport({ baseUrl: url, ratePerSecond: 0, maxAttempts: 1, clock });
    return createHarness({
      ...local,
      transport,
      close: async () => {
        await transport.close();
        await server.close();
        await local.close();
      },
    });
  },
};

/** Adds to a transport and its store what every suite asks of them. */
function createHarness(parts: HarnessParts): Harness {
  const { transport } = parts;
  let accounts = 0;
  return {
    ...parts,
    service: (caller) => createService(transport, caller),
    newAccount: async (displayName) => {
      accounts += 1;
      const made = await transport.call(
        "users.create",
        {
          user: {
            email: `owner${accounts}@shop.example`,
            display_name: displayName ?? `Owner ${accounts}`,
            password: "correct horse",
            url: "https://shop.example",
          },
        },
        {},
      );
      const caller = { appKey: made.app_key, utoken: made.token };
      const service = createService(transport, caller);
      return { caller, secret: made.secret, userId: made.user_id, service };
    },
  };
}

export const backends: readonly Backend[] = [localSqlite, remoteSqlite];

/** Runs a suite over every backend, each test on a store of its own. */
export function describeBackends(
  title: string,
  suite: (harness: () => Harness) => void,
  options?: { readonly enforceLimits?: boolean },
): void {
  describe.each(backends)(`${title} over $name`, ({ open }) => {
    let held: Harness | undefined;
    beforeEach(async () => {
      held = await open(options);
    });
    afterEach(async () => {
      await held?.close();
      held = undefined;
    });
    suite(() => {
      if (!held) throw new Error("the harness is open only while a test runs");
      return held;
    });
  });
}
