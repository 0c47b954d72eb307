import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRandom } from "../fuzz/random.ts";
import { postgresServer, postgresSkipped } from "../support/postgres.ts";
import { attackLimits, type Attack, type Send } from "./attack.ts";
import { reportRow, printReport } from "./attack-report.ts";
import {
  connectFrom,
  createSend,
  openAttackedStore,
  startAttackedServer,
  type AttackedServer,
  type AttackedStore,
  type Measured,
} from "./attacked-server.ts";

/** The same for every run, so that all runs send the same requests. */
const seed = 4_711;
/** Another build is only measured; see `docs/development/attacks.md`. */
const isOtherBuild = process.env["STARPOST_ATTACK_PROGRAM"] !== undefined;
const publicFlags = ["--public-url", "https://reviews.example"];

const folder = join(import.meta.dirname, "attacks");
const files = await Promise.all(
  readdirSync(folder).map((name) => import(join(folder, name)) as Promise<Record<string, Attack>>),
);
const attacks = files.flatMap((file) => Object.values(file));

const dialects = postgresServer === undefined ? (["sqlite"] as const) : (["sqlite", "postgres"] as const);

describe.each(dialects.map((dialect, nth) => [dialect, nth] as const))("an attack on %s", (dialect, nth) => {
  let store: AttackedStore | undefined;
  let server: AttackedServer | undefined;
  let serverFlags = "";
  let attempts = 0;
  const senders = new Map<string, Send>();

  const close = async () => {
    await server?.stop();
    server = undefined;
  };
  const open = async (flags: readonly string[] = []): Promise<{ store: AttackedStore; server: AttackedServer }> => {
    store ??= await openAttackedStore(dialect);
    if (server && (!server.isRunning() || serverFlags !== flags.join(" ") || isOtherBuild)) await close();
    // Another build may not know a flag.
    server ??= await startAttackedServer(store.home, [...publicFlags, ...(isOtherBuild ? [] : flags)]);
    serverFlags = flags.join(" ");
    return { store, server };
  };

  beforeAll(async () => void (await open()));
  afterAll(async () => {
    await close();
    await store?.close();
  });

  const chosen = attacks
    .filter(({ only = dialect }) => only === dialect)
    .map((attack) => [attack.name, attack] as const);
  it.each(chosen)("does not achieve: %s", { retry: isOtherBuild ? 0 : 1 }, async (_name, attack) => {
    const { store: attacked, server: running } = await open(attack.serve);
    await running.measure();
    attempts += 1;
    const attacker = `127.66.${nth}.${attempts}`;
    const sendFrom = (address: string) => {
      const name = `${running.url} ${address}`;
      const known = senders.get(name) ?? createSend(running.url, address);
      senders.set(name, known);
      return known;
    };
    const outcome = await attack
      .run({
        url: running.url,
        account: attacked.account,
        otherAccount: attacked.otherAccount,
        neighbor: attacked.neighbor,
        send: sendFrom(attacker),
        sendFrom,
        connect: () => connectFrom(running.url, attacker),
        connectFrom: (address) => connectFrom(running.url, address),
        mail: attacked.mail,
        database: attacked.database,
        pid: running.pid,
        random: createRandom(seed),
      })
      .catch((error: unknown) => ({ result: String(error), held: false }));
    const measured: Measured | undefined = running.isRunning() ? await running.measure() : undefined;
    reportRow({ dialect, name: attack.name, ...outcome, measured });
    if (attack.damagesDatabase === true) {
      await close();
      await attacked.close();
      store = undefined;
    }
    if (isOtherBuild) return;
    expect(measured, `the server ended: ${running.log().slice(-2_000)}`).toBeDefined();
    expect(outcome).toMatchObject({ held: true });
    expect(running.log()).not.toMatch(/\n\s+at /);
    expect(measured?.delayMs).toBeLessThanOrEqual(attackLimits.delayMs);
    expect(measured?.memoryMb).toBeLessThanOrEqual(attackLimits.memoryMb);
  });
});

if (postgresServer === undefined) it.skip(`an attack on ${postgresSkipped}`);

afterAll(printReport);
