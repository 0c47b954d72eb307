import type { Writable } from "node:stream";
import { cutText, loadRuler, plainRuler, type Ruler, toSafeLine } from "./display-width.ts";
import { formatDuration } from "./plural.ts";

/** Where a long command says how far it is. */
export interface Progress {
  /** The state in one line, asked for whenever it is shown: times in it go on. */
  show(line: () => string): void;
  stop(): void;
}

/** Without a terminal, a line so often. */
const everyMs = 10_000;

/** On a terminal the line is made anew so often. */
const renewEveryMs = 500;

/** What has been silent for so long is said to be. */
const silentFromMs = 10_000;

/** Shows nothing. */
export const noProgress: Progress = { show: () => {}, stop: () => {} };

/** Whether a line can be written over: a terminal that does not tell its width cannot say where a line ends. */
export function canAnimate(stream: Writable): boolean {
  const { isTTY, columns } = stream as Partial<NodeJS.WriteStream>;
  return isTTY === true && columns !== undefined && columns > 0;
}

/** One line that is written over, on a terminal; cut to its width, however that changes. */
export async function createSpinner(
  stream: Writable,
  { clock, isColoured }: { readonly clock: () => number; readonly isColoured: boolean },
): Promise<Progress> {
  const { default: ora } = await import("ora");
  const ruler = await loadRuler();
  // Standard input is left alone: it may be the file that is imported.
  const spinner = ora({
    stream,
    discardStdin: false,
    isEnabled: true,
    hideCursor: true,
    color: isColoured ? "cyan" : false,
  });
  const state = new ShownState(clock);
  const renew = () => {
    const { columns = 80 } = stream as Partial<NodeJS.WriteStream>;
    spinner.text = cutLine(state.word(), columns, ruler);
  };
  let timer: NodeJS.Timeout | undefined;
  return {
    show: (line) => {
      state.show(line);
      renew();
      if (spinner.isSpinning) return;
      spinner.start();
      timer ??= setInterval(renew, renewEveryMs).unref();
    },
    stop: () => {
      clearInterval(timer);
      timer = undefined;
      spinner.stop();
    },
  };
}

/**
 * A line beside the sign that moves, no wider than the terminal: its last column is left free, where some fold, and two
 * more, where it writes the `^C` of an interruption. A line that is folded can no longer be wiped away.
 */
export function cutLine(line: string, columns: number, ruler: Ruler = plainRuler): string {
  const sign = 2;
  const free = 3;
  return cutText(line, Math.max(1, columns - sign - free), ruler);
}

/** A line every ten seconds, for logs: also where nothing has come of late, so that what hangs is seen to. */
export function createLineProgress(stream: Writable, clock: () => number): Progress {
  const state = new ShownState(clock);
  const start = () => setInterval(() => stream.write(`${state.word()}\n`), everyMs).unref();
  let timer: NodeJS.Timeout | undefined = start();
  return {
    show: (line) => {
      state.show(line);
      timer ??= start();
    },
    stop: () => {
      clearInterval(timer);
      timer = undefined;
    },
  };
}

/** The last that was to be shown, and since when nothing else came. */
class ShownState {
  readonly #clock: () => number;
  #line: () => string = () => "";
  #sinceMs: number;

  constructor(clock: () => number) {
    this.#clock = clock;
    this.#sinceMs = clock();
  }

  show(line: () => string): void {
    this.#line = line;
    this.#sinceMs = this.#clock();
  }

  word(): string {
    const silentMs = this.#clock() - this.#sinceMs;
    const line = toSafeLine(this.#line());
    if (silentMs < silentFromMs) return line === "" ? "at work" : line;
    const silence = `nothing new for ${formatDuration(silentMs)}`;
    // First, where it is not cut off.
    return line === "" ? silence : `${silence} · ${line}`;
  }
}
