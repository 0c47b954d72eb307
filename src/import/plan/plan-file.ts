import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import writeFileAtomic from "write-file-atomic";
import * as z from "zod";
import type { InputFile } from "../source/input-files.ts";
import { ImportError } from "../import-error.ts";
import type { ImportOptions } from "../options.ts";
import { hashFile } from "./file-hash.ts";
import { sumPlan } from "./plan-checksum.ts";
import type { PlanRequest } from "./plan-types.ts";
import type { PlanDeps, PlanSummary } from "./plan-types.ts";

const plannedFile = z.object({
  /** As messages name it; a pattern stands for the files that it found. */
  given: z.string(),
  /** Absolute. */
  path: z.string(),
  size_bytes: z.number(),
  sha256: z.string(),
});
export type PlannedFile = z.output<typeof plannedFile>;

const keptPlan = z.object({
  format: z.literal(1),
  /** Of the program that made it. */
  version: z.string(),
  kind: z.string(),
  files: z.array(plannedFile).min(1),
  /** What is read beside the files: the mapping. */
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

/** A plan as it is kept: what was looked at, and what it would do; never a secret. */
export type KeptPlan = z.output<typeof keptPlan>;

/** The import that a plan stands for. */
export interface PlannedImport {
  readonly kind: string;
  readonly files: readonly string[];
  readonly options: ImportOptions;
}

/**
 * Refuses what can be read only once: it could not be read again when the plan is applied.
 * @throws ImportError `usage`
 */
export function rejectStreams(files: readonly string[], cwd: string): void {
  for (const file of files) {
    const stat = file === "-" ? undefined : statSync(resolve(cwd, file), { throwIfNoEntry: false });
    const isStream = file === "-" || (stat !== undefined && !stat.isFile() && !stat.isDirectory());
    if (!isStream) continue;
    throw new ImportError("usage", `--out: ${file === "-" ? "standard input" : file} can be read only once`, {
      hint: "put it into a file and plan that, or plan without --out",
    });
  }
}

/** Puts together what is kept of a plan. */
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

/** The files on the disk, once each and in their order: several of those that were read may be of one archive. */
function listSources(
  asked: readonly string[],
  opened: readonly InputFile[],
  cwd: string,
): { readonly path: string; readonly given: string }[] {
  const paths = [...new Set(opened.map(({ path }) => path))];
  return paths.map((path) => ({
    path,
    given:
      asked.find((name) => resolve(cwd, name) === path) ??
      opened.find((file) => file.path === path && resolve(cwd, file.given) === path)?.given ??
      path,
  }));
}

/** Relative to where the plan was made, they would mean another file elsewhere. */
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
  return { given, path, size_bytes: statSync(path).size, sha256: await hashFile(path) };
}

export async function writePlan(path: string, plan: KeptPlan): Promise<void> {
  await writeFileAtomic(path, `${JSON.stringify(plan, null, 2)}\n`, { mode: 0o600 });
}

/** @throws ImportError `usage` where it cannot be read, was edited, or is no plan of this version */
export function readPlan(given: string, cwd: string): KeptPlan {
  const found = readJson(given, cwd);
  const isPlan = typeof found === "object" && found !== null && "checksum" in found;
  if (isPlan && found.checksum !== sumPlan(found)) {
    throw new ImportError("usage", `${given}: the plan was edited after it was made`, {
      hint: "plan anew with the flags that are wanted: what an edited plan would do was never rehearsed",
    });
  }
  const parsed = keptPlan.safeParse(found);
  if (parsed.success) return parsed.data;
  throw new ImportError("usage", `${given}: is no plan that this version of starpost knows`, {
    hint: "make one with --out: starpost orders plan <file> --out plan.json",
  });
}

function readJson(given: string, cwd: string): unknown {
  try {
    return JSON.parse(readFileSync(resolve(cwd, given), "utf8"));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    const { code } = error as NodeJS.ErrnoException;
    const why = code === "ENOENT" ? "there is no such file" : `the file cannot be read (${code})`;
    throw new ImportError("usage", `${given}: ${why}`, { cause: error });
  }
}

/** What is imported where a plan is applied. From another folder, files go by their whole paths. */
export function importOf({ kind, files, options }: KeptPlan, cwd: string): PlannedImport {
  return {
    kind,
    files: files.map(({ given, path }) => (resolve(cwd, given) === path ? given : path)),
    options: options as unknown as ImportOptions,
  };
}

/**
 * Makes sure that a plan still is about the files and the account that it was made of.
 * @throws ImportError `usage`
 */
export async function checkPlan(
  { profile, target, files, beside }: KeptPlan,
  now: { readonly profileName: string; readonly target: string },
): Promise<void> {
  if (target !== now.target || profile !== now.profileName) {
    throw new ImportError("usage", `the plan was made for the profile ${profile}, at ${target}`, {
      hint: `this is ${now.profileName}, at ${now.target}; apply it there, or plan anew`,
    });
  }
  for (const file of [...files, ...beside]) await refuseChanged(file);
}

async function refuseChanged({ path, size_bytes, sha256 }: PlannedFile): Promise<void> {
  const stat = statSync(path, { throwIfNoEntry: false });
  const why = !stat?.isFile()
    ? "is not there any more"
    : stat.size !== size_bytes || (await hashFile(path)) !== sha256
      ? "has changed since the plan was made"
      : undefined;
  if (why === undefined) return;
  throw new ImportError("usage", `${path}: the file ${why}`, {
    hint: "plan anew: what would happen is not what the plan says",
  });
}
