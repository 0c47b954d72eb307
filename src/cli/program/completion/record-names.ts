import { existsSync } from "node:fs";
import { type Paths, resolvePaths } from "../../../config/paths.ts";
import type { Io } from "../io.ts";

/** Names of records that completion offers. */
export type RecordNames = "product IDs" | "group names";

/** What is needed to read records; absent where only the names of this machine's files are completed. */
export type RecordSource = Pick<Io, "env" | "cwd"> & Partial<Pick<Io, "loadApp" | "clock" | "random">>;

/** A shell that completes must not wait longer. */
const timeoutMs = 1_000;

const productWords = /^(?:product|product-ids?|product-ids-to-(?:add|remove)|product_ids?|sku|domain-key|domain_key)$/;

/** The records that an argument or a flag names. */
export function recordsNamed(name: string): RecordNames | undefined {
  if (productWords.test(name)) return "product IDs";
  return /^(?:group|group[-_]name)$/.test(name) ? "group names" : undefined;
}

/** Reads the first names with one call. Returns none if that fails or takes too long, and creates no database. */
export async function findRecordNames(io: RecordSource, wanted: RecordNames): Promise<readonly string[]> {
  const late = new Promise<readonly string[]>((resolve) => {
    setTimeout(() => resolve([]), timeoutMs).unref();
  });
  return Promise.race([readNames(io, wanted).catch(() => []), late]);
}

async function readNames(io: RecordSource, wanted: RecordNames): Promise<readonly string[]> {
  const { env, cwd, loadApp, clock, random } = io;
  if (!loadApp || !clock || !random) return [];
  const paths: Paths = await resolvePaths(env, cwd);
  const { resolveProfile } = await import("../../../config/profile.ts");
  const sources = { env, cwd, paths, flag: undefined, account: undefined, hasPerson: () => false };
  const profile = await resolveProfile(sources);
  const isFile = profile.mode === "local" && !/^postgres(?:ql)?:/.test(profile.database);
  if (isFile && !existsSync(profile.database)) return [];
  const { openConnection } = await loadApp();
  const connection = await openConnection({ env, paths, clock, random, profile, rate: 0 });
  try {
    const once = { maxAttempts: 1 };
    if (wanted === "group names") {
      return (await connection.service.groups.list({}, once)).products_groups.map(({ display_name }) => display_name);
    }
    return (await connection.service.core.listProducts({ limit: 100 }, once)).products.map(
      ({ external_id }) => external_id,
    );
  } finally {
    await connection.close();
  }
}
