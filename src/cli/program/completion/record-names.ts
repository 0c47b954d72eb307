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

/** The values of `--profile` and `--account`. */
export interface Target {
  readonly profile: string | undefined;
  readonly account: string | undefined;
}

/** How many product IDs are read; from a service, with one call. */
const maxProducts = { local: 1_000, remote: 100 } as const;

/** Reads the first names. Returns none if that fails or takes too long, and creates no database. */
export async function findRecordNames(
  io: RecordSource,
  wanted: RecordNames,
  target: Target,
): Promise<readonly string[]> {
  const late = new Promise<readonly string[]>((resolve) => {
    setTimeout(() => resolve([]), timeoutMs).unref();
  });
  return Promise.race([readNames(io, wanted, target).catch(() => []), late]);
}

async function readNames(
  io: RecordSource,
  wanted: RecordNames,
  { profile: flag, account }: Target,
): Promise<readonly string[]> {
  const { env, cwd, loadApp, clock, random } = io;
  if (!loadApp || !clock || !random) return [];
  const paths: Paths = await resolvePaths(env, cwd);
  const { isDatabaseServer, resolveProfile } = await import("../../../config/profile.ts");
  const sources = { env, cwd, paths, flag, account, hasPerson: () => false };
  const profile = await resolveProfile(sources);
  if (profile.mode === "local" && !isDatabaseServer(profile) && !existsSync(profile.database)) return [];
  const { openConnection } = await loadApp();
  const connection = await openConnection({ env, paths, clock, random, profile, rate: 0 });
  try {
    const once = { maxAttempts: 1 };
    if (wanted === "group names") {
      return (await connection.service.groups.list({}, once)).products_groups.map(({ display_name }) => display_name);
    }
    const { listAll } = await import("../../../service/listings.ts");
    const ids: string[] = [];
    const request = { input: {}, limit: maxProducts[profile.mode] };
    for await (const page of listAll(connection.service, "core.listProducts", request, once)) {
      ids.push(...page.map((product) => String(product["external_id"])));
    }
    return ids;
  } finally {
    await connection.close();
  }
}
