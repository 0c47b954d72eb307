import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { ImportDeps } from "../../src/import/deps.ts";
import type { ImportEvent } from "../../src/import/events.ts";
import { resumeImport, startImport } from "../../src/import/import.ts";
import type { ImportOptions } from "../../src/import/options.ts";
import type { PlanDeps, PlanSummary } from "../../src/import/plan/plan-types.ts";
import { planImport } from "../../src/import/plan/plan.ts";
import type { ImportSummary } from "../../src/import/summary.ts";
import type { Service } from "../../src/service/service.ts";
import { type Backend, backends, type Harness, type TestAccount } from "./backends.ts";
import { kinds } from "./record-kinds.ts";

type SomeOptions = Partial<ImportOptions>;

/** The import pipeline over an embedded engine, run from the sources in this process. */
export interface Pipeline extends AsyncDisposable {
  readonly folder: string;
  readonly harness: Harness;
  readonly account: TestAccount;
  readonly service: Service;
  /** The events of all runs so far. */
  readonly events: ImportEvent[];
  /** The messages of all runs so far. */
  readonly notices: () => readonly string[];
  /** Returns the dependencies of a run; the given ones replace the defaults. */
  readonly deps: (replaced?: Partial<ImportDeps>) => ImportDeps;
  /** Writes a file into the folder and returns its path. */
  readonly write: (name: string, content: string | Uint8Array) => string;
  readonly read: (name: string) => string;
  /** Imports a file of the folder, which is written first. */
  readonly run: (
    kind: string,
    content: string,
    options?: SomeOptions,
    replaced?: Partial<ImportDeps>,
  ) => Promise<ImportSummary>;
  readonly resume: (id: string, options?: SomeOptions, replaced?: Partial<ImportDeps>) => Promise<ImportSummary>;
  /** Plans the import of a file against an empty copy of the account, or against the account of `copy`. */
  readonly plan: (kind: string, content: string, options?: SomeOptions & { out?: string }) => Promise<PlanSummary>;
}

/** Opens a pipeline with a new account on an empty database, by default SQLite in this process. */
export async function openPipeline([backend]: readonly Backend[] = backends): Promise<Pipeline> {
  if (!backend) throw new Error("there is no backend");
  const folder = mkdtempSync(join(tmpdir(), "starpost-test-"));
  const harness = await backend.open();
  const account = await harness.newAccount();
  const events: ImportEvent[] = [];
  const { service } = account;
  const opened = { service, concurrency: 1, keepsOrder: true, close: async () => {} };
  const deps = (replaced: Partial<ImportDeps> = {}): ImportDeps => ({
    kinds,
    profileName: "local",
    target: "database of the test",
    runsFolder: join(folder, "imports"),
    clock: harness.clock,
    random: randomBytes,
    stdin: Readable.from([]),
    cwd: folder,
    version: "0.0.0-test",
    stop: new AbortController().signal,
    abort: new AbortController().signal,
    report: (event) => events.push(event),
    openService: async () => opened,
    ...replaced,
  });
  const write = (name: string, content: string | Uint8Array) => {
    const path = join(folder, name);
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, content);
    return path;
  };
  const complete = (options: SomeOptions): ImportOptions => ({ dryRun: false, map: {}, ...options });
  return {
    folder,
    harness,
    account,
    service,
    events,
    notices: () => events.flatMap((event) => (event.type === "notice" ? [event.message] : [])),
    deps,
    write,
    read: (name) => readFileSync(join(folder, name), "utf8"),
    run: (kind, content, options = {}, replaced = {}) => {
      const files = [write(`${kind}.csv`, content)];
      return startImport({ kind, files, options: complete(options) }, deps(replaced));
    },
    resume: (id, options = {}, replaced = {}) => resumeImport(id, options, deps(replaced)),
    plan: (kind, content, { out, ...options } = {}) => {
      const files = [write(`${kind}.csv`, content)];
      const { openService: _unused, ...others } = deps();
      const planDeps: PlanDeps = {
        ...others,
        openRehearsal: async () => ({ ...opened, ratePerSecond: undefined, notKnown: [] }),
      };
      return planImport({ kind, files, out, options: complete(options) }, planDeps);
    },
    [Symbol.asyncDispose]: async () => {
      await harness.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
