import type { Writable } from "node:stream";
import { join } from "node:path";
import type { App, Connection } from "./ports.ts";
import type { DemoSettings, RunningDemo } from "./shop-tools.ts";
import { asUserError, startServer } from "./server.ts";
import { resolvePaths } from "../config/paths.ts";
import { localProfile } from "../config/profile.ts";
import { type DirectRows, seedShop, storeDirectRows } from "../demo/seed.ts";
import { listenAsShop, type ShopServer } from "../demo/shop-server.ts";
import { toListenError } from "../server/listen.ts";
import { openDatabase } from "../storage/database.ts";
import { TemporaryFolder } from "../storage/temporary-folder.ts";

/**
 * Serves a sample shop, and a service with its reviews. Everything is in a temporary folder, whose removal ends the demo;
 * neither the environment nor the profiles of the user are read.
 * @throws UserError `failed` if the port is in use
 */
export async function startDemo(
  { port, clock, random, version, log }: DemoSettings,
  openConnection: App["openConnection"],
): Promise<RunningDemo> {
  const shop = await listen(port, log);
  const folder = new TemporaryFolder("demo");
  const remove = () => folder[Symbol.dispose]();
  const closing: (() => Promise<void> | void)[] = [remove, () => shop.close()];
  const close = async () => {
    for (const end of closing.splice(0).toReversed()) await end();
  };
  try {
    const env = { STARPOST_HOME: folder.path, STARPOST_KEY: random(32).toString("hex") };
    const paths = await resolvePaths(env, folder.path);
    const host = { paths, env, clock, random, withoutDatabase: "create" as const };
    const profile = localProfile({ env, cwd: folder.path, paths });
    const database = join(folder.path, "starpost.db");
    const rows = await seed(await openConnection({ ...host, profile }), clock(), shop.url);
    await storeDirectRows(await openDatabase(database, { nowMs: clock() }), rows);
    const server = await startServer({ ...host, profile, version, log, logLevel: "error", ...serving });
    closing.push(() => server.close());
    const connection = await openConnection({ ...host, profile });
    closing.push(() => connection.close());
    const { service, appKey } = connection;
    shop.open({ url: server.url, appKey, service });
    return { url: shop.url, serviceUrl: server.url, appKey, close, remove };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Only this machine can reach it, and it sends nothing. */
const serving = { host: "127.0.0.1", port: 0, limitLegacy: false, hasWorker: false, allowsSignUp: false } as const;

async function listen(port: number, log: Writable): Promise<ShopServer> {
  return listenAsShop(port, log).catch((error: unknown) => {
    throw asUserError(toListenError(error, { host: serving.host, port }));
  });
}

async function seed(connection: Connection, nowMs: number, shopUrl: string): Promise<DirectRows> {
  try {
    return await seedShop({ service: connection.service, nowMs, shopUrl });
  } finally {
    await connection.close();
  }
}
