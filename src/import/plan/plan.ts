import { unmarkFormula } from "../../export/formula-mark.ts";
import { join, resolve } from "node:path";
import { ServiceError } from "../../contract/index.ts";
import { TemporaryFolder } from "../../storage/temporary-folder.ts";
import { startImport } from "../import.ts";
import { ImportError } from "../import-error.ts";
import type { ImportKind } from "../kinds.ts";
import { checkRejectsPath } from "../run/reject-copy.ts";
import type { RunTally } from "../run/tally.ts";
import { describePlace, unitOf } from "../csv/file-format.ts";
import type { InputFile } from "../source/input-files.ts";
import type { ImportSummary } from "../summary.ts";
import type { PlanBehavior, StateBefore } from "./plan-behavior.ts";
import { createPlan, rejectStreams, writePlan } from "./plan-file.ts";
import { PlanTally } from "./plan-tally.ts";
import type { PlanDeps, PlanRequest, PlanSummary, RehearsedService, Repeated } from "./plan-types.ts";
import type { ImportBehavior } from "../kind.ts";
import { isItem, type Item, type RowView, type SourceRow } from "../item.ts";

/**
 * Runs an import against a copy of the account that is discarded, and reports what the import would do. The run itself
 * is recorded in a temporary folder, which is removed.
 * @throws ImportError, ServiceError
 */
export async function planImport(request: PlanRequest, deps: PlanDeps): Promise<PlanSummary> {
  const { files, out } = request;
  if (out !== undefined) {
    checkRejectsPath(out, files, deps.cwd, "--out");
    rejectStreams(files, deps.cwd);
  }
  const kind = deps.kinds.get(request.kind);
  const canonicalTypes = kind.plan?.ids.filter(({ isCanonical }) => isCanonical).map(({ type }) => type);
  using temporary = new TemporaryFolder("plan");
  const folder = temporary.path;
  using tally = new PlanTally(join(folder, "ids.db"), new Set(canonicalTypes));
  try {
    return await rehearse({ request, kind, tally, folder }, deps);
  } catch (error) {
    throw asPlanError(error);
  }
}

interface Planning {
  readonly request: PlanRequest;
  readonly kind: ImportKind;
  readonly tally: PlanTally;
  readonly folder: string;
}

async function rehearse(planning: Planning, deps: PlanDeps): Promise<PlanSummary> {
  const { request, kind, tally, folder } = planning;
  const ids = new IdWatch(kind.plan, tally);
  let opened: OpenedRehearsal | undefined;
  // Reading the account ends at the first signal.
  const opening = new AbortController();
  const cancelOpening = () => opening.abort();
  const abort = AbortSignal.any([deps.abort, opening.signal]);
  try {
    const summary = await startImport(
      // Options that only read more of the service contribute nothing to a plan.
      { ...request, options: { ...request.options, dryRun: false, undoable: false, verify: false } },
      {
        ...deps,
        abort,
        runsFolder: join(folder, "imports"),
        openService: async (pace) => {
          deps.stop.addEventListener("abort", cancelOpening);
          opened = await open(planning, { ...pace, signal: abort }, deps);
          deps.stop.removeEventListener("abort", cancelOpening);
          // It is closed after the plan's last query, not after the import's last call.
          return { ...opened.service, close: async () => {} };
        },
        observer: {
          // Notices at the end are about what the service was sent; this one keeps nothing.
          behavior: (behavior) => ids.watch({ ...behavior, notices: () => [] }),
          files: (files) => (ids.files = files),
          tally: (runTally) => (ids.runTally = runTally),
        },
      },
    );
    const rehearsed = summary.state === "interrupted" ? undefined : opened;
    return await conclude(planning, { summary, ids, rehearsed }, deps);
  } finally {
    deps.stop.removeEventListener("abort", cancelOpening);
    await opened?.service.close();
  }
}

interface OpenedRehearsal {
  readonly service: RehearsedService;
  readonly before: StateBefore;
  readonly startedMs: number;
}

async function open(
  { kind, tally }: Planning,
  pace: Parameters<PlanDeps["openRehearsal"]>[0],
  deps: PlanDeps,
): Promise<OpenedRehearsal> {
  const service = await deps.openRehearsal(pace);
  try {
    const before = await kind.plan?.loadStored(service.service, tally, { signal: pace.signal });
    return { service, before: before ?? {}, startedMs: deps.clock() };
  } catch (error) {
    await service.close();
    throw error;
  }
}

interface EndedRehearsal {
  readonly summary: ImportSummary;
  readonly ids: IdWatch;
  /** Undefined if the rehearsal did not begin or did not finish. */
  readonly rehearsed: OpenedRehearsal | undefined;
}

async function describeDetails(
  { request, kind, tally }: Planning,
  rehearsed: OpenedRehearsal | undefined,
  deps: PlanDeps,
) {
  const callOptions = { signal: deps.abort };
  const known = rehearsed && { ...rehearsed, service: rehearsed.service.service, tally, callOptions };
  return (await kind.plan?.describe?.(request.options, known)) ?? {};
}

async function conclude(
  planning: Planning,
  { summary, ids, rehearsed }: EndedRehearsal,
  deps: PlanDeps,
): Promise<PlanSummary> {
  const { request, kind, tally } = planning;
  const { files, state, rows, items, calls, started_at } = summary;
  const rate = rehearsed?.service.ratePerSecond;
  const details = await describeDetails(planning, rehearsed, deps);
  const type = kind.plan?.ids[0]?.type;
  const plan: PlanSummary = {
    kind: kind.name,
    files,
    profile: deps.profileName,
    target: deps.target,
    state,
    rows,
    items,
    calls,
    // At a rate, the first call is sent at once.
    time: {
      rate: rate ?? null,
      ms: rate ? Math.round((Math.max(0, calls.sent - 1) * 1_000) / rate) : summary.duration_ms,
    },
    rejects: ids.runTally?.rejects ?? [],
    // Unless --rejects names a file, the rejects are in the temporary folder.
    rejects_file: request.options.rejects === undefined ? null : summary.rejects_file,
    repeated: ids.repeated,
    there: {
      items: type === undefined ? 0 : tally.countStored(type),
      changed: details.changed ?? null,
      purchases_added: details.purchases_added ?? null,
    },
    collisions: tally.findCollisions(),
    names: tally.findConflictingNames(),
    erased: ids.runTally?.erased ?? {},
    mails: details.mails ?? null,
    not_known: rehearsed?.service.notKnown ?? [],
    created_at: started_at,
    duration_ms: deps.clock() - Date.parse(started_at),
    plan_file: request.out === undefined || state !== "finished" ? null : resolve(deps.cwd, request.out),
  };
  if (plan.plan_file !== null) {
    await writePlan(plan.plan_file, await createPlan({ request, opened: ids.files, plan }, deps));
  }
  return plan;
}

/** A plan leaves no run to resume, so the run's summary and hints are removed from its errors. */
function asPlanError(error: unknown): unknown {
  if (!(error instanceof ImportError) || error.summary === undefined) return error;
  const { cause } = error;
  if (cause instanceof ServiceError || cause instanceof ImportError) return cause;
  return new ImportError(error.kind, error.message, { cause });
}

/** Adds the IDs of an import's rows to a plan's tally as they are read. */
class IdWatch {
  readonly repeated: Repeated = { rows: 0, first: null };
  readonly #plan: PlanBehavior | undefined;
  readonly #tally: PlanTally;
  files: readonly InputFile[] = [];
  /** The tally of the observed import. */
  runTally: RunTally | undefined;

  constructor(plan: PlanBehavior | undefined, tally: PlanTally) {
    this.#plan = plan;
    this.#tally = tally;
  }

  /** The same behavior, observed. */
  watch(behavior: ImportBehavior): ImportBehavior {
    const plan = this.#plan;
    if (!plan) return behavior;
    return {
      ...behavior,
      read: (row, source, ...more) => {
        const read = behavior.read(row, source, ...more);
        if (isItem(read)) this.#add(plan, read, row, source);
        return read;
      },
    };
  }

  #add(plan: PlanBehavior, item: Item, row: RowView, source: SourceRow): void {
    const file = this.files[source.file];
    const place = describePlace(file?.given ?? "", source.line, file && unitOf(file.head.format));
    for (const { type, field, writtenIn, name } of plan.ids) {
      const id = field === undefined ? item.key : row(field);
      const at = file?.columns.columnOf.get(writtenIn);
      const spelling = (at === undefined ? undefined : unmarkFormula(source.cells[at] ?? "")) || id;
      this.#tally.addFromFile(type, { id, spelling, name: name === undefined ? undefined : row(name), place });
    }
    if (!this.#tally.addKey(plan.keyOf(item, row))) return;
    this.repeated.rows++;
    this.repeated.first ??= place;
  }
}
