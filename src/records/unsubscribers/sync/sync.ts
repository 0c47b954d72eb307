import { closeSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import writeFileAtomic from "write-file-atomic";
import { listUnsubscribers } from "../../../service/listings.ts";
import type { Service } from "../../../service/service.ts";
import { startImport } from "../../../import/import.ts";
import { createRunFolder, createRunsFolder, runGroupPath, runPaths } from "../../../import/run/run-folder.ts";
import { writeFully } from "../../../import/run/new-file.ts";
import { ImportError, usageError } from "../../../import/import-error.ts";
import type { ImportDeps } from "../../../import/deps.ts";
import type { ImportOptions } from "../../../import/options.ts";
import type { ImportSummary, RunState } from "../../../import/summary.ts";
import { TemporaryFolder } from "../../../storage/temporary-folder.ts";
import { AddressLists } from "./address-list.ts";

export interface SyncRequest {
  readonly files: readonly string[];
  /** The email type of the list to synchronize. */
  readonly emailType: string;
  readonly options: ImportOptions;
  /** Whether to only report what would be done. */
  readonly isPlan: boolean;
  /** Maximum number of people who may be resubscribed. */
  readonly maxResubscribe: number;
}

/** What a sync did or would do, in the form that scripts read. */
export interface SyncSummary {
  /** Names the folder with its record; null for a plan. */
  sync_id: string | null;
  type: number;
  files: string[];
  /** `planned`, or the final state of its runs. */
  state: RunState | "planned";
  /** Unsubscribed because only the files have them. */
  added: number;
  /** Resubscribed because only the service has them. */
  removed: number;
  unchanged: number;
  /** Not in the files, but unsubscribed by the person. */
  cannot_be_removed: string[];
  /** Not resubscribed because rows were rejected, which may name them. */
  withheld: number;
  /** Changes that the service did not accept, or whose outcome is unknown. */
  not_done: number;
  /** Addresses in the files with other types. */
  passed_over: number;
  rejected: number;
  rejects_file: string | null;
  /** In a plan, the first addresses to be added and removed. */
  to_add?: string[];
  to_remove?: string[];
  /** The IDs of its runs, as in `imports list`. */
  imports: string[];
  started_at: string;
  finished_at: string;
}

export interface SyncDeps extends ImportDeps {
  /**
   * Asks for confirmation before the list is changed: people who are removed from it receive emails again.
   * @throws the error that ends the sync if the answer is no
   */
  readonly approve: (change: Pick<SyncSummary, "added" | "removed">) => Promise<void>;
}

/** The maximum number of addresses that a plan lists on each side; the counts include all. */
const maxListed = 1_000;

/**
 * Makes the service's list for one email type contain exactly the addresses of the files. Additions and removals are
 * two ordinary recorded runs, which begin once everything is known.
 * Assumed: rows with other types are ignored. If a row is rejected, nobody is resubscribed, since it may name them.
 * People who unsubscribed themselves are reported and are not an error.
 * @throws ImportError, ServiceError; what `approve` throws
 */
export async function syncUnsubscribers(request: SyncRequest, deps: SyncDeps): Promise<SyncSummary> {
  if (request.isPlan) {
    using folder = new TemporaryFolder("sync");
    return await compare(request, folder.path, deps, async (_, summary) => summary);
  }
  createRunsFolder(deps.runsFolder);
  const id = createRunFolder(deps.runsFolder, deps.clock(), deps.random);
  const { folder } = runPaths(deps.runsFolder, id);
  let isWorthKeeping = false;
  try {
    return await compare(request, folder, deps, async (lists, found) => {
      const summary = { ...found, sync_id: id };
      await agree(request, summary, deps);
      isWorthKeeping = true;
      return carryOut({ request, folder, lists, summary }, deps);
    });
  } finally {
    if (!isWorthKeeping) rmSync(folder, { recursive: true, force: true });
  }
}

type Compared = (lists: AddressLists, summary: SyncSummary) => Promise<SyncSummary>;

/** Reads the files and the service's list, and passes on the differences. */
async function compare(request: SyncRequest, folder: string, deps: SyncDeps, next: Compared): Promise<SyncSummary> {
  const startedMs = deps.clock();
  const place = join(folder, "compared");
  using lists = new AddressLists(join(place, "addresses.db"));
  try {
    const read = await readFiles(request, { place, folder }, lists, deps);
    const { run } = read;
    const state = run.state === "finished" ? await readList(request, lists, deps) : run.state;
    const { added, removed, unchanged } = lists.count();
    const { rejected } = run.rows;
    const isWithheld = rejected > 0;
    const summary: SyncSummary = {
      sync_id: null,
      type: Number(request.emailType),
      files: run.files,
      state: state === "finished" ? "planned" : state,
      added,
      removed: isWithheld ? 0 : removed,
      unchanged,
      cannot_be_removed: [...lists.list("kept")],
      withheld: isWithheld ? removed : 0,
      not_done: 0,
      passed_over: read.passedOver,
      rejected,
      // Other rejects of a plan are removed with its folder.
      rejects_file: request.isPlan && request.options.rejects === undefined ? null : run.rejects_file,
      imports: [],
      started_at: new Date(startedMs).toISOString(),
      finished_at: new Date(deps.clock()).toISOString(),
    };
    if (state !== "finished") {
      return { ...summary, added: 0, removed: 0, unchanged: 0, cannot_be_removed: [], withheld: 0 };
    }
    if (!request.isPlan) return await next(lists, summary);
    const toRemove = isWithheld ? [] : [...lists.list("removed", maxListed)];
    return await next(lists, { ...summary, to_add: [...lists.list("added", maxListed)], to_remove: toRemove });
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** Reads the files as an import does, including checks and rejects, without sending anything. */
async function readFiles(
  { files, options, emailType, isPlan }: SyncRequest,
  { place, folder }: { readonly place: string; readonly folder: string },
  lists: AddressLists,
  deps: SyncDeps,
): Promise<{ readonly run: ImportSummary; readonly passedOver: number }> {
  let passedOver = 0;
  const collecting = {
    unsubscribers: {
      massCreate: async ({ email_list: byType }: { email_list: Record<string, string[]> }) => {
        for (const [type, emails] of Object.entries(byType)) {
          if (type === emailType) lists.want(emails);
          else passedOver += emails.length;
        }
        return {};
      },
      // The previous state only matters to the runs that send.
      list: async () => ({ unsubscribers: [] }),
    },
  } as unknown as Service;
  const reading = { dryRun: false, remove: false, batchSize: undefined, undoable: false, verify: false };
  const rejects = options.rejects ?? (isPlan ? undefined : join(folder, "rejects.csv"));
  const run = await startImport(
    { kind: "unsubscribers", files, options: { ...options, ...reading, emailType, rejects } },
    {
      ...deps,
      runsFolder: join(place, "imports"),
      openService: async () => ({ service: collecting, concurrency: 1, keepsOrder: true, close: async () => {} }),
    },
  );
  return { run, passedOver };
}

/** Reads the service's list for the type; a signal ends this as it ends a run. */
async function readList({ emailType, options }: SyncRequest, lists: AddressLists, deps: ImportDeps): Promise<RunState> {
  const opened = await deps.openService({ rate: options.rate, rateShare: options.rateShare });
  try {
    for await (const page of listUnsubscribers(opened.service, { signal: deps.stop })) {
      const ours = page.filter(({ email_type_id: type }) => type === Number(emailType));
      lists.hold(ours.map(({ user_email: email, unsubscirbed_by_name: by }) => ({ email, by })));
      if (deps.stop.aborted) return "interrupted";
    }
    return "finished";
  } catch (error) {
    if (deps.stop.aborted) return "interrupted";
    throw error;
  } finally {
    await opened.close();
  }
}

/** @throws ImportError `usage` if more people would be resubscribed than allowed */
async function agree({ maxResubscribe }: SyncRequest, summary: SyncSummary, deps: SyncDeps): Promise<void> {
  const { added, removed } = summary;
  if (added + removed === 0) return;
  if (removed <= maxResubscribe) return deps.approve({ added, removed });
  const people = removed === 1 ? "1 person" : `${removed} people`;
  const isEmptied = summary.added + summary.unchanged === 0;
  const why = isEmptied ? `${describeEmptyFiles(summary)}: the list would be emptied; ` : "";
  throw usageError(
    `${why}${people} would receive emails again, but --max-resubscribe allows ${maxResubscribe}; nothing was sent`,
    `to list them, pass --plan; to allow this, pass --max-resubscribe ${removed}`,
  );
}

/** Describes files without any address of the type. */
export function describeEmptyFiles({ files, passed_over: passedOver, type }: SyncSummary): string {
  const which = files.length === 1 ? "the file lists" : "the files list";
  return `${which} no addresses${passedOver > 0 ? ` of type ${type}` : ""}`;
}

interface Approved {
  readonly request: SyncRequest;
  readonly folder: string;
  readonly lists: AddressLists;
  readonly summary: SyncSummary;
}

/** Adds, then removes. Records what has been done, even on failure. */
async function carryOut({ request, folder, lists, summary }: Approved, deps: SyncDeps): Promise<SyncSummary> {
  const { batchSize, concurrency, rate, rateShare, undoable, verify } = request.options;
  const sending = { dryRun: false, map: {}, batchSize, concurrency, rate, rateShare, undoable, verify };
  const done: SyncSummary = { ...summary, state: "finished", added: 0, removed: 0 };
  try {
    for (const side of ["added", "removed"] as const) {
      if (summary[side] === 0 || done.state !== "finished") continue;
      const path = join(folder, `${side}.csv`);
      writeList(path, request.emailType, lists.list(side));
      const options = { ...sending, remove: side === "removed" };
      const run = await startImport({ kind: "unsubscribers", files: [path], options }, deps);
      done.state = run.state;
      done[side] = run.items.accepted;
      done.not_done += run.rows.rejected + run.rows.failed + (run.verified?.missing_count ?? 0);
      if (run.import_id !== null) done.imports.push(run.import_id);
    }
  } catch (error) {
    done.state = "failed";
    if (error instanceof ImportError && error.summary?.import_id) done.imports.push(error.summary.import_id);
    throw error;
  } finally {
    done.finished_at = new Date(deps.clock()).toISOString();
    await writeFileAtomic(runGroupPath(folder), `${JSON.stringify(done, null, 2)}\n`, { mode: 0o600 });
  }
  return done;
}

function writeList(path: string, type: string, emails: Iterable<string>): void {
  const descriptor = openSync(path, "w", 0o600);
  try {
    writeFully(descriptor, Buffer.from("email,email_type_id\n"));
    for (const email of emails) writeFully(descriptor, Buffer.from(`"${email.replaceAll('"', '""')}",${type}\n`));
  } finally {
    closeSync(descriptor);
  }
}
