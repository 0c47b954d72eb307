import { UserError } from "../../../config/user-error.ts";
import type { ImportDeps } from "../../../import/deps.ts";
import { ImportError } from "../../../import/import-error.ts";
import type { ImportEvent, RejectReason } from "../../../import/events.ts";
import type { ImportOptions } from "../../../import/options.ts";
import type { ImportSummary } from "../../../import/summary.ts";
import { resumeImport, startImport } from "../../../import/import.ts";
import { findRun } from "../../../import/run/run-folder.ts";
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
import type { Progress } from "../../../terminal/progress.ts";
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
  overrides: Pick<ImportOptions, "maxErrors" | "concurrency" | "rate" | "rateShare" | "verify">,
): Promise<ImportSummary> {
  const changed = Object.fromEntries(Object.entries(overrides).filter(([, value]) => value !== undefined));
  return runWithScreen(context, async (deps, screen) => {
    const found = findRun(deps.runsFolder, id);
    if (found.state !== "finished") {
      const { kind, files, options } = found;
      await screen.confirmOnLive(describeOverwriting({ kind, files: files.map(({ given }) => given), options }));
      await context.prepareBulk();
    }
    return resumeImport(id, changed, deps);
  });
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
        waitedMs: screen.waitedMs,
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
  screen = new ImportScreen(context, signals, await messages.openProgress());
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
    isVerbose: context.globals.verbose,
    report: (event) => screen.report(event),
    confirm: (question) => screen.confirm(question),
  };
  try {
    return await run(deps, screen);
  } finally {
    screen.close();
    signals.release();
  }
}

/** What a run shows on the terminal. */
export class ImportScreen {
  readonly #context: Context;
  readonly #signals: StopSignals;
  readonly #progress: Progress;
  readonly #state: ImportProgress;
  readonly #printed = new Set<string>();
  #begunId: string | undefined;
  #rejects: readonly RejectReason[] = [];
  /** The total time of all waits. */
  waitedMs = 0;

  constructor(context: Context, signals: StopSignals, progress: Progress) {
    this.#context = context;
    this.#signals = signals;
    this.#progress = progress;
    this.#state = new ImportProgress(context.io.clock);
  }

  report(event: ImportEvent): void {
    if (event.type === "notice") {
      if (!this.#printed.has(event.message)) this.#context.messages.warn(event.message);
      this.#printed.add(event.message);
    } else if (event.type === "begun") this.#begunId = event.importId;
    else if (event.type === "rejects") {
      this.#rejects = [...this.#rejects, ...(this.#context.io.redactor?.data(event.reasons) ?? event.reasons)];
    } else {
      if (event.type === "wait") this.waitedMs += event.ms;
      this.#state.add(event);
      this.#progress.show(() => this.#state.format());
    }
  }

  /** Sets the rate limit of the run, and the options that determined it. */
  setPace(ratePerSecond: number | undefined, { rate, rateShare }: Pick<ImportOptions, "rate" | "rateShare">): void {
    const isDefault = rate === undefined && rateShare === undefined;
    const source = isDefault ? "service limit" : rate === undefined ? "--rate-share" : "--rate";
    this.#state.setPace(ratePerSecond === undefined ? undefined : { ratePerSecond, source });
  }

  /** Returns the reject reasons reported so far, and leaves none for `close` to print. */
  takeRejects(): readonly RejectReason[] {
    const taken = this.#rejects;
    this.#rejects = [];
    return taken;
  }

  /** The arguments of the command that continues the work, once there is something to continue. */
  continuation(): string | undefined {
    return this.#begunId === undefined ? undefined : `imports resume ${this.#begunId}`;
  }

  async confirm(question: string): Promise<void> {
    this.#progress.stop();
    if (this.#signals.stop.aborted) throw promptInterrupted();
    await this.#signals.aside(() => confirmDestruction(this.#context, question));
  }

  /** Prompts for confirmation if the profile is live and there is a question. */
  async confirmOnLive(question: string | undefined): Promise<void> {
    const { isLive } = await this.#context.profile();
    if (isLive && question !== undefined) await this.confirm(question);
  }

  /** Removes the progress line, and prints the reject reasons that were not taken. */
  close(): void {
    this.#progress.stop();
    const rejects = this.takeRejects();
    if (rejects.length === 0) return;
    const lines = describeRejects(rejects, { rejected: rejects.length, failed: 0 });
    this.#context.messages.warn(alignLabels(lines));
  }
}
