import { UserError } from "../../../config/user-error.ts";
import type { ImportDeps } from "../../../import/deps.ts";
import { ImportError } from "../../../import/import-error.ts";
import type { ImportEvent, RejectReason } from "../../../import/events.ts";
import type { ImportOptions } from "../../../import/options.ts";
import type { ImportSummary } from "../../../import/summary.ts";
import { resumeImport, startImport } from "../../../import/import.ts";
import { findRun, type Manifest } from "../../../import/run/run-folder.ts";
import { loadKinds } from "../../../import/kinds.ts";
import { recordKinds } from "../../../records/index.ts";
import type { Context } from "../../program/context.ts";
import { ImportProgress } from "./import-progress.ts";
import { hasNoDifferences } from "./import-view.ts";
import {
  alignLabels,
  describeEnd,
  describeOverwriting,
  describeRejects,
  describeTarget,
  identifyAccount,
} from "./import-format.ts";
import { confirmDestruction } from "../../program/confirm.ts";
import { promptInterrupted } from "../../program/prompt.ts";
import { listenForStop, type StopSignals } from "../../program/stop-signals.ts";

export function runImport(
  context: Context,
  request: { readonly kind: string; readonly files: readonly string[]; readonly options: ImportOptions },
): Promise<ImportSummary> {
  return runWithScreen(context, async (deps, screen) => {
    await screen.confirmOnLive(describeOverwriting(request));
    return startImport({ ...request, files: [...request.files] }, deps);
  });
}

/** Resumes a run that did not finish. Options without a new value keep the value of the run. */
export function resumeRun(
  context: Context,
  id: string,
  overrides: Pick<ImportOptions, "maxErrors" | "concurrency" | "rate" | "rateShare">,
): Promise<ImportSummary> {
  const changed = Object.fromEntries(Object.entries(overrides).filter(([, value]) => value !== undefined));
  return runWithScreen(context, async (deps, screen) => {
    const found = findRun(deps.runsFolder, id);
    await screen.confirmOnLive(describeResumed(found));
    if (found.state !== "finished") await context.prepareBulk();
    return resumeImport(id, changed, deps);
  });
}

/** The question before a run is resumed, as for a new run; undefined if nothing remains to be sent. */
function describeResumed({ state, kind, files, options }: Manifest): string | undefined {
  if (state === "finished") return undefined;
  return describeOverwriting({ kind, files: files.map(({ given }) => given), options });
}

/** Runs an import with progress and signal handling, and prints its summary at the end. */
export async function runWithScreen(
  context: Context,
  run: (deps: ImportDeps, screen: ImportScreen) => Promise<ImportSummary>,
): Promise<ImportSummary> {
  const { messages } = context;
  const profile = await context.profile();
  const paint = await messages.paint();
  return withRunDeps(context, async (deps, screen) => {
    const end = (summary: ImportSummary) => {
      const rejects = screen.takeRejects();
      screen.close();
      const message = describeEnd(summary, {
        target: describeTarget(profile),
        waitedMs: screen.waitedMs(),
        rejects,
        paint,
      });
      const isClean = rejects.length === 0 && hasNoDifferences(summary);
      if (summary.state === "finished" && isClean) messages.info(message);
      else messages.warn(message);
    };
    try {
      const summary = await run(deps, screen);
      end(summary);
      return summary;
    } catch (error) {
      if (error instanceof ImportError && error.summary) end(error.summary);
      throw error;
    }
  });
}

/**
 * Calls `run` with its dependencies, showing progress and handling signals.
 * @param continuation the arguments of the command that continues the work, if it is not the resumption of an import
 */
export async function withRunDeps<T>(
  context: Context,
  run: (deps: ImportDeps, screen: ImportScreen) => Promise<T>,
  continuation?: string,
): Promise<T> {
  const { io, messages } = context;
  const profile = await context.profile();
  const { paths } = await context.host();
  let screen: ImportScreen | undefined;
  const signals = listenForStop(io, {
    onStop: (name) => {
      const next = name === "SIGINT" ? " Press Ctrl-C again to stop immediately." : "";
      messages.info(`Stopping after the calls in flight.${next}`);
    },
    onExit: async () => {
      const { reportFailure } = await import("../../program/errors/error-report.ts");
      const next = continuation ?? screen?.continuation();
      screen?.close();
      const hint = next === undefined ? undefined : `To continue, run: starpost ${next}`;
      await reportFailure(io, new UserError("interrupted", "interrupted", hint));
    },
  });
  screen = await openScreen(context, signals);
  const deps: ImportDeps = {
    kinds: await loadKinds(recordKinds),
    openService: async (pace) => {
      const connection = await context.connect({ ...pace, isBulk: true });
      screen.setPace(connection.ratePerSecond, pace);
      return connection;
    },
    prefersLargeCalls: profile.mode === "local",
    profileName: profile.name,
    target: identifyAccount(profile),
    runsFolder: paths.runsFolder,
    clock: io.clock,
    random: io.random,
    // Opened only if a file is `-`.
    get stdin() {
      return io.stdin;
    },
    cwd: io.cwd,
    version: io.version,
    stop: signals.stop,
    abort: signals.abort,
    report: screen.report,
  };
  try {
    return await run(deps, screen);
  } finally {
    screen.close();
    signals.release();
  }
}

/** What a run shows on the terminal. */
export interface ImportScreen {
  readonly report: (event: ImportEvent) => void;
  /** Sets the rate limit of the run, and the options that determined it. */
  readonly setPace: (
    ratePerSecond: number | undefined,
    options: { rate?: number | undefined; rateShare?: number | undefined },
  ) => void;
  /** The total time of all waits. */
  readonly waitedMs: () => number;
  /** Returns the reject reasons reported so far, and leaves none for `close` to print. */
  readonly takeRejects: () => readonly RejectReason[];
  /** The arguments of the command that continues the work, once there is something to continue. */
  readonly continuation: () => string | undefined;
  /** Prompts for confirmation. */
  readonly confirm: (question: string) => Promise<void>;
  /** Prompts for confirmation if the profile is live and there is a question. */
  readonly confirmOnLive: (question: string | undefined) => Promise<void>;
  /** Removes the progress line, and prints the reject reasons that were not taken. */
  readonly close: () => void;
}

async function openScreen(context: Context, signals: StopSignals): Promise<ImportScreen> {
  const { messages, io } = context;
  const { redactor } = io;
  const progress = await messages.openProgress();
  const state = new ImportProgress(io.clock);
  const printed = new Set<string>();
  let waitedMs = 0;
  let begunId: string | undefined;
  let rejects: readonly RejectReason[] = [];
  const confirmAside = async (question: string) => {
    progress.stop();
    if (signals.stop.aborted) throw promptInterrupted();
    await signals.aside(() => confirmDestruction(context, question));
  };
  return {
    report: (event) => {
      if (event.type === "notice") {
        if (!printed.has(event.message)) messages.warn(event.message);
        printed.add(event.message);
        return;
      }
      if (event.type === "begun") {
        begunId = event.importId;
        return;
      }
      if (event.type === "rejects") {
        rejects = [...rejects, ...(redactor?.data(event.reasons) ?? event.reasons)];
        return;
      }
      if (event.type === "wait") waitedMs += event.ms;
      state.add(event);
      progress.show(() => state.format());
    },
    setPace: (ratePerSecond, { rate, rateShare }) => {
      const isDefault = rate === undefined && rateShare === undefined;
      const source = isDefault ? "service limit" : rate === undefined ? "--rate-share" : "--rate";
      state.setPace(ratePerSecond === undefined ? undefined : { ratePerSecond, source });
    },
    waitedMs: () => waitedMs,
    takeRejects: () => {
      const taken = rejects;
      rejects = [];
      return taken;
    },
    continuation: () => (begunId === undefined ? undefined : `imports resume ${begunId}`),
    confirm: confirmAside,
    confirmOnLive: async (question) => {
      const { isLive } = await context.profile();
      if (isLive && question !== undefined) await confirmAside(question);
    },
    close: () => {
      progress.stop();
      const { length } = rejects;
      if (length > 0) messages.warn(alignLabels(describeRejects(rejects, { rejected: length, failed: 0 })));
      rejects = [];
    },
  };
}
