import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { ServiceError } from "../../contract/index.ts";
import type { Books } from "../run/tally.ts";
import { startImport } from "../import.ts";
import type { InputFile } from "../source/input-files.ts";
import { checkRejectsPath } from "../run/reject-copy.ts";
import { ImportError, type ImportOptions, type ImportSummary, type KindName } from "../types.ts";
import { PlanBook } from "./plan-tally.ts";
import { createPlan, type KeptPlan, refuseStreams, writePlan } from "./plan-file.ts";
import type { PlanDeps, PlanSummary, RehearsedService, There } from "./plan-types.ts";
import { IdWatch } from "./watched-ids.ts";
import { type Before, countChangedProducts, countPurchasesAdded, loadWhatIsThere } from "./stored-records.ts";

export interface PlanRequest {
  readonly kind: KindName;
  readonly files: readonly string[];
  readonly options: ImportOptions;
  /** Where the plan is kept, for `imports apply`. */
  readonly out: string | undefined;
}

/**
 * Runs the very import against a service of which nothing stays, and says what it would do. The run and its books are
 * kept in a folder of their own, which is removed.
 * @throws ImportError, ServiceError
 */
export async function planImport(request: PlanRequest, deps: PlanDeps): Promise<PlanSummary> {
  const { files, out } = request;
  if (out !== undefined) {
    checkRejectsPath(out, files, deps.cwd, "--out");
    refuseStreams(files, deps.cwd);
  }
  const folder = await mkdtemp(join(tmpdir(), "starpost-plan-"));
  using book = new PlanBook(join(folder, "ids.db"));
  try {
    return await rehearse(request, { book, folder }, deps);
  } catch (error) {
    throw asPlanError(error);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Place {
  readonly book: PlanBook;
  readonly folder: string;
}

/** What the import is, seen from outside. */
interface Seen {
  files: readonly InputFile[];
  books?: Books;
}

async function rehearse(request: PlanRequest, place: Place, deps: PlanDeps): Promise<PlanSummary> {
  const { kind, files, options } = request;
  const { book, folder } = place;
  const ids = new IdWatch(kind, book);
  const seen: Seen = { files: [] };
  let rehearsed: Rehearsed | undefined;
  // What is only read is given up at the first signal.
  const opening = new AbortController();
  const giveUp = () => opening.abort();
  const abort = AbortSignal.any([deps.abort, opening.signal]);
  try {
    const summary = await startImport(
      // What reads more of the service, before or behind, adds nothing to a plan.
      { kind, files, options: { ...options, dryRun: false, undoable: false, verify: false } },
      {
        ...deps,
        abort,
        runsFolder: join(folder, "imports"),
        openService: async (pace) => {
          deps.stop.addEventListener("abort", giveUp);
          rehearsed = await open(kind, { ...pace, signal: abort }, book, deps);
          deps.stop.removeEventListener("abort", giveUp);
          // It is closed behind the last question, not behind the last call of the import.
          return { ...rehearsed.opened, close: async () => {} };
        },
        watch: {
          // What a service says at the end is about what it was sent, and this one keeps nothing of it.
          importing: (importing) => ids.watch({ ...importing, notices: () => [] }),
          files: (opened) => {
            ids.setFiles(opened);
            seen.files = opened;
          },
          books: (books) => {
            seen.books = books;
          },
        },
      },
    );
    // What was interrupted is not looked at any further.
    const looked = summary.state === "interrupted" ? undefined : rehearsed;
    return await conclude({ request, summary, ids, seen, rehearsed: looked }, place, deps);
  } finally {
    deps.stop.removeEventListener("abort", giveUp);
    await rehearsed?.opened.close();
  }
}

interface Rehearsed {
  readonly opened: RehearsedService;
  readonly before: Before;
  readonly startedMs: number;
}

async function open(
  kind: KindName,
  pace: Parameters<PlanDeps["openRehearsal"]>[0],
  book: PlanBook,
  deps: PlanDeps,
): Promise<Rehearsed> {
  const opened = await deps.openRehearsal(pace);
  try {
    const before = await loadWhatIsThere(kind, opened.service, book, { signal: pace.signal });
    return { opened, before, startedMs: deps.clock() };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

interface Ended {
  readonly request: PlanRequest;
  readonly summary: ImportSummary;
  readonly ids: IdWatch;
  readonly seen: Seen;
  /** Nothing where the rehearsal was not begun, or not ended. */
  readonly rehearsed: Rehearsed | undefined;
}

async function conclude(ended: Ended, { book }: Place, deps: PlanDeps): Promise<PlanSummary> {
  const { request, summary, ids, seen, rehearsed } = ended;
  const { kind, files, state, rows, items, calls, started_at } = summary;
  const rate = rehearsed?.opened.ratePerSecond;
  const { out } = request;
  const plan: PlanSummary = {
    kind,
    files,
    profile: deps.profileName,
    target: deps.target,
    state,
    rows,
    items,
    calls,
    time: { rate: rate ?? null, ms: rate === undefined ? summary.duration_ms : timeAt(rate, calls.sent) },
    rejects: seen.books?.rejects ?? [],
    // Without a name for it, it is in the folder that goes.
    rejects_file: request.options.rejects === undefined ? null : summary.rejects_file,
    repeated: ids.repeated,
    there: await findThere(ended, book, deps),
    collisions: book.findCollisions(),
    names: book.findNames(),
    erased: seen.books?.erased ?? {},
    mails: await forecastMails(ended, deps),
    not_known: rehearsed?.opened.notKnown ?? [],
    created_at: started_at,
    duration_ms: deps.clock() - Date.parse(started_at),
    plan_file: out === undefined || state !== "finished" ? null : resolve(deps.cwd, out),
  };
  if (plan.plan_file !== null) await keep(plan.plan_file, ended, plan, deps);
  return plan;
}

async function keep(
  path: string,
  { request, seen }: Ended,
  plan: PlanSummary,
  deps: PlanDeps,
): Promise<void> {
  const kept: KeptPlan = await createPlan({ request, opened: seen.files, plan }, deps);
  await writePlan(path, kept);
}

/** The first call leaves at once. */
function timeAt(ratePerSecond: number, calls: number): number {
  return Math.round((Math.max(0, calls - 1) * 1_000) / ratePerSecond);
}

const idOfKind = { products: "product", orders: "order", coupons: "code", unsubscribers: "address" } as const;

async function findThere({ request, rehearsed }: Ended, book: PlanBook, deps: PlanDeps): Promise<There> {
  const { kind } = request;
  const what = kind in idOfKind ? idOfKind[kind as keyof typeof idOfKind] : undefined;
  const items = what === undefined ? 0 : book.countThere(what);
  const none: There = { items, changed: null, purchases_added: null };
  if (!rehearsed) return none;
  const { opened, before, startedMs } = rehearsed;
  const options = { signal: deps.abort };
  if (kind === "products") {
    return { ...none, changed: await countChangedProducts(opened.service, startedMs, options) };
  }
  if (kind !== "orders") return none;
  const added = items === 0 ? 0 : await countPurchasesAdded(opened.service, before, book, options);
  return { ...none, purchases_added: added };
}

/** Assumed: mails follow orders alone, and none where `--send-mail` is not given: customers of the past are not written to. */
async function forecastMails({ request, rehearsed }: Ended, deps: PlanDeps): Promise<PlanSummary["mails"]> {
  if (request.kind !== "orders") return null;
  const send_mail = request.options.sendMail ?? false;
  if (!rehearsed) return { send_mail, sent_by_import: 0, if_sent: null };
  const { opened, before } = rehearsed;
  const since_purchase_id = before.lastPurchaseId + 1;
  const forecast = await opened.service.emails.forecast({ since_purchase_id }, { signal: deps.abort });
  return { send_mail, sent_by_import: send_mail ? forecast.mails : 0, if_sent: forecast };
}

/** There is no run to go on with: what the import would say of one is not said. */
function asPlanError(error: unknown): unknown {
  if (!(error instanceof ImportError) || error.summary === undefined) return error;
  const { cause } = error;
  if (cause instanceof ServiceError || cause instanceof ImportError) return cause;
  return new ImportError(error.kind, error.message, { cause });
}
