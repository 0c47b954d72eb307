import type { ImportDeps } from "../../../import/deps.ts";
import { ImportError } from "../../../import/import-error.ts";
import type { ImportEvent } from "../../../import/events.ts";
import type { ImportOptions } from "../../../import/options.ts";
import type { ImportSummary } from "../../../import/summary.ts";
import { resumeImport, startImport } from "../../../import/import.ts";
import { loadKinds } from "../../../import/kinds.ts";
import { recordKinds } from "../../../records/index.ts";
import type { Context } from "../../program/context.ts";
import { ImportProgress } from "./import-progress.ts";
import { describeEnd, describeOverwriting, describeTarget } from "./import-format.ts";
import { confirmDestruction } from "../../program/confirm.ts";
import { promptInterrupted } from "../../program/prompt.ts";
import { listenForStop, type StopSignals } from "../../program/stop-signals.ts";

/** Imports files into the account of the profile. */
export function runImport(
  context: Context,
  request: { readonly kind: string; readonly files: readonly string[]; readonly options: ImportOptions },
): Promise<ImportSummary> {
  return runWithScreen(context, async (deps, screen) => {
    await screen.confirmOnLive(describeOverwriting(request));
    return startImport({ ...request, files: [...request.files] }, deps);
  });
}

/** Goes on with a run that did not finish. */
export function resumeRun(
  context: Context,
  id: string,
  overrides: Pick<ImportOptions, "maxErrors" | "concurrency" | "rate" | "rateShare">,
): Promise<ImportSummary> {
  // What is not given anew stays as the run has it.
  const given = Object.fromEntries(Object.entries(overrides).filter(([, value]) => value !== undefined));
  return runWithScreen(context, (deps) => resumeImport(id, given, deps));
}

/** Runs an import with its progress, its signals and its last words. */
export async function runWithScreen(
  context: Context,
  run: (deps: ImportDeps, screen: ImportScreen) => Promise<ImportSummary>,
): Promise<ImportSummary> {
  const { messages } = context;
  const profile = await context.profile();
  const paint = await messages.paint();
  return withRunDeps(context, async (deps, screen) => {
    const end = (summary: ImportSummary) => {
      screen.close();
      const words = describeEnd(summary, describeTarget(profile), screen.waitedMs(), paint);
      // How to go on is worth knowing to a script's author as well.
      if (summary.state === "finished") messages.info(words);
      else messages.warn(words);
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

/** Gives what a run needs of the world, with its progress on the screen and its signals listened to. */
export async function withRunDeps<T>(
  context: Context,
  run: (deps: ImportDeps, screen: ImportScreen) => Promise<T>,
): Promise<T> {
  const { io, messages } = context;
  const profile = await context.profile();
  const { paths } = await context.host();
  const signals = listenForStop(io, () => {
    messages.info("Finishing what is in flight; a second signal stops at once.");
  });
  const screen = await openScreen(context, signals);
  const deps: ImportDeps = {
    kinds: await loadKinds(recordKinds),
    openService: async (pace) => {
      const connection = await context.connect({ ...pace, isBulk: true });
      screen.holdTo(connection.ratePerSecond, pace);
      return connection;
    },
    profileName: profile.name,
    target: profile.mode === "local" ? profile.shownAs : `${profile.baseUrl} ${profile.appKey}`,
    runsFolder: paths.runsFolder,
    clock: io.clock,
    random: io.random,
    // Only opened when a file is `-`.
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

export interface ImportScreen {
  readonly report: (event: ImportEvent) => void;
  /** Calls a second that the run is held to, and what was asked for. */
  readonly holdTo: (
    ratePerSecond: number | undefined,
    asked: { rate?: number | undefined; rateShare?: number | undefined },
  ) => void;
  /** How long nothing was sent, in all. */
  readonly waitedMs: () => number;
  /** Asks before the run goes on, as `confirmDestruction` does. */
  readonly confirm: (question: string) => Promise<void>;
  /** Asks on a live profile alone, where there is something to ask. */
  readonly confirmOnLive: (question: string | undefined) => Promise<void>;
  readonly close: () => void;
}

async function openScreen(context: Context, signals: StopSignals): Promise<ImportScreen> {
  const { messages } = context;
  const progress = await messages.openProgress();
  const state = new ImportProgress(context.io.clock);
  const said = new Set<string>();
  let waitedMs = 0;
  const askAside = async (put: () => Promise<void>) => {
    progress.stop();
    if (signals.stop.aborted) throw promptInterrupted();
    await signals.aside(put);
  };
  return {
    report: (event) => {
      if (event.type === "notice") {
        if (!said.has(event.message)) messages.warn(event.message);
        said.add(event.message);
        return;
      }
      if (event.type === "wait") waitedMs += event.ms;
      state.take(event);
      progress.show(() => state.word());
    },
    holdTo: (ratePerSecond, { rate, rateShare }) => {
      const isOwn = rate === undefined && rateShare === undefined;
      const whose = isOwn
        ? "the service's limit"
        : rate === undefined
          ? "this run's share of the limit"
          : "as --rate asks";
      state.holdTo(ratePerSecond === undefined ? undefined : { ratePerSecond, whose });
    },
    waitedMs: () => waitedMs,
    confirm: (question) => askAside(() => confirmDestruction(context, question)),
    confirmOnLive: async (question) => {
      const { isLive } = await context.profile();
      if (isLive && question !== undefined) await askAside(() => confirmDestruction(context, question));
    },
    close: () => progress.stop(),
  };
}
