import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import writeFileAtomic from "write-file-atomic";
import * as z from "zod";
import { hashFile } from "../csv/pre-scan.ts";
import { stampFile } from "../source/containers/file-pieces.ts";
import type { InputFile } from "../source/input-files.ts";
import { usageError } from "../import-error.ts";
import type { ImportOptions } from "../options.ts";
import type { PlanDeps, PlanRequest, PlanSummary } from "./plan-types.ts";
import { createHash } from "node:crypto";

const plannedFile = z.object({
  /** As messages name it; a pattern is replaced by the files that it matches. */
  given: z.string(),
  /** Absolute. */
  path: z.string(),
  size_bytes: z.number(),
  sha256: z.string(),
});
export type PlannedFile = z.output<typeof plannedFile>;

const keptPlan = z.object({
  format: z.literal(1),
  /** The version of starpost that created it. */
  version: z.string(),
  kind: z.string(),
  files: z.array(plannedFile).min(1),
  /** Other files that are read: the mapping. */
  beside: z.array(plannedFile),
  options: z.looseObject({ map: z.record(z.string(), z.string()) }),
  profile: z.string(),
  target: z.string(),
  created_at: z.string(),
  summary: z.looseObject({
    rows: z.object({ accepted: z.number(), rejected: z.number(), failed: z.number() }),
    items: z.object({ accepted: z.number() }),
  }),
  checksum: z.string(),
});

/** A saved plan: what was read and what would happen; never contains a secret. */
export type KeptPlan = z.output<typeof keptPlan>;

export interface PlannedImport {
  readonly kind: string;
  readonly files: readonly string[];
  readonly options: ImportOptions;
}

/**
 * Rejects input that can be read only once, since applying the plan reads it again.
 * @throws ImportError `usage`
 */
export function rejectStreams(files: readonly string[], cwd: string): void {
  for (const file of files) {
    const stat = file === "-" ? undefined : statSync(resolve(cwd, file), { throwIfNoEntry: false });
    const isStream = file === "-" || (stat !== undefined && !stat.isFile() && !stat.isDirectory());
    if (!isStream) continue;
    throw usageError(
      `cannot use --out: ${file === "-" ? "standard input" : file} can be read only once`,
      "save it to a file and plan that, or plan without --out",
    );
  }
}

export async function createPlan(
  made: { readonly request: PlanRequest; readonly opened: readonly InputFile[]; readonly plan: PlanSummary },
  deps: Pick<PlanDeps, "cwd" | "version">,
): Promise<KeptPlan> {
  const { request, opened, plan } = made;
  const options = withWholePaths(request.options, deps.cwd);
  const files: PlannedFile[] = [];
  for (const { path, given } of listSources(request.files, opened, deps.cwd)) {
    files.push(await describeFile(given, path));
  }
  const mapping = readPath(options, "mapping");
  const kept = {
    format: 1 as const,
    version: deps.version,
    kind: request.kind,
    files,
    beside: mapping === undefined ? [] : [await describeFile(mapping, mapping)],
    options: { ...options, map: options.map },
    profile: plan.profile,
    target: plan.target,
    created_at: plan.created_at,
    summary: { ...plan },
  };
  return { ...kept, checksum: sumPlan(kept) };
}

/** The files on disk, each once, in order: several input files may be entries of one archive. */
function listSources(
  asked: readonly string[],
  opened: readonly InputFile[],
  cwd: string,
): { readonly path: string; readonly given: string }[] {
  const sourceOf = ({ path, converted }: InputFile) => converted?.from ?? path;
  const paths = [...new Set(opened.map(sourceOf))];
  return paths.map((path) => ({
    path,
    given:
      asked.find((name) => resolve(cwd, name) === path) ??
      opened.find((file) => sourceOf(file) === path && resolve(cwd, file.given) === path)?.given ??
      path,
  }));
}

/** Relative paths would mean other files when applied elsewhere. */
function withWholePaths(options: ImportOptions, cwd: string): ImportOptions {
  const whole: Record<string, unknown> = { ...options };
  for (const name of ["rejects", "mapping"]) {
    const path = readPath(options, name);
    if (path !== undefined) whole[name] = resolve(cwd, path);
  }
  return whole as unknown as ImportOptions;
}

function readPath(options: ImportOptions, name: string): string | undefined {
  const path = (options as unknown as Readonly<Record<string, unknown>>)[name];
  return typeof path === "string" ? path : undefined;
}

async function describeFile(given: string, path: string): Promise<PlannedFile> {
  return { given, path, size_bytes: statSync(path).size, sha256: await hashFile(stampFile(path)) };
}

export async function writePlan(path: string, plan: KeptPlan): Promise<void> {
  await writeFileAtomic(path, `${JSON.stringify(plan, null, 2)}\n`, { mode: 0o600 });
}

/** @throws ImportError `usage` if it cannot be read, was edited, or is not a plan of this version */
export function readPlan(given: string, cwd: string): KeptPlan {
  const found = readJson(given, cwd);
  const isPlan = typeof found === "object" && found !== null && "checksum" in found;
  if (isPlan && found.checksum !== sumPlan(found)) {
    throw usageError(
      `${given}: the plan was edited after it was created`,
      "create a new plan with the flags that you want; an edited plan has not been rehearsed",
    );
  }
  const parsed = keptPlan.safeParse(found);
  if (parsed.success) return parsed.data;
  throw usageError(
    `${given}: not a plan that this version of starpost supports`,
    "to create a plan, run: starpost orders plan <file> --out plan.json",
  );
}

function readJson(given: string, cwd: string): unknown {
  try {
    return JSON.parse(readFileSync(resolve(cwd, given), "utf8"));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    const { code } = error as NodeJS.ErrnoException;
    const why = code === "ENOENT" ? "no such file" : `cannot read the file (${code})`;
    throw usageError(`${given}: ${why}`, undefined, { cause: error });
  }
}

/** The import that applying a plan runs. From another folder, files are named by their absolute paths. */
export function importOf({ kind, files, options }: KeptPlan, cwd: string): PlannedImport {
  return {
    kind,
    files: files.map(({ given, path }) => (resolve(cwd, given) === path ? given : path)),
    options: options as unknown as ImportOptions,
  };
}

/**
 * Checks that the plan's files and account are unchanged.
 * @throws ImportError `usage`
 */
export async function checkPlan(
  { profile, target, files, beside }: KeptPlan,
  now: { readonly profileName: string; readonly target: string },
): Promise<void> {
  if (target !== now.target || profile !== now.profileName) {
    throw usageError(
      `the plan was created for the profile ${profile}, at ${target}`,
      `the current profile is ${now.profileName}, at ${now.target}; apply the plan with its profile, or create a new one`,
    );
  }
  for (const file of [...files, ...beside]) await rejectChanged(file);
}

async function rejectChanged({ path, size_bytes, sha256 }: PlannedFile): Promise<void> {
  const stat = statSync(path, { throwIfNoEntry: false });
  const why = !stat?.isFile()
    ? "no longer exists"
    : stat.size !== size_bytes || (await hashFile(stampFile(path))) !== sha256
      ? "has changed since the plan was created"
      : undefined;
  if (why === undefined) return;
  throw usageError(`${path}: the file ${why}`, "create a new plan; this one no longer describes what would happen");
}

/**
 * The SHA-256 of a plan's contents without the checksum, in hexadecimal; independent of the file's formatting.
 * Assumed: it guards against accidental edits and is not a signature; anyone can recompute it.
 */
function sumPlan(plan: object): string {
  const { checksum: _own, ...rest } = JSON.parse(JSON.stringify(plan)) as Readonly<Record<string, unknown>>;
  return createHash("sha256")
    .update(JSON.stringify(sortKeys(rest)))
    .digest("hex");
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, held]) => [key, sortKeys(held)]));
}
