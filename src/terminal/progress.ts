import type { Writable } from "node:stream";
import { formatDuration } from "./plural.ts";
import type { Redactor } from "./redactor.ts";
import { sanitizeText } from "./safe-text.ts";
import { loadLayout, narrowLayout, type TextLayout } from "./text-layout.ts";

/** Shows the progress of a long-running command. */
export interface Progress {
  /** Sets the function that returns the status line. It is called on every refresh, to update the times in the line. */
  show(line: () => string): void;
  stop(): void;
}

/** The interval between lines if the stream is not a terminal. */
const lineIntervalMs = 10_000;

const refreshIntervalMs = 500;

/** After this time without an event, the line says that there is no progress. */
const stalledAfterMs = 10_000;

/** Between the figures of a status line. */
const separator = " · ";

/** Prints nothing. */
export const noProgress: Progress = { show: () => {}, stop: () => {} };

/** Whether a line can be overwritten: the stream is a terminal of known width. */
export function canAnimate(stream: Writable): boolean {
  const { isTTY, columns } = stream as Partial<NodeJS.WriteStream>;
  return isTTY === true && columns !== undefined && columns > 0;
}

/** Creates a status line that is overwritten in place and truncated to the current width of the terminal. */
export async function createSpinner(
  stream: Writable,
  clock: () => number,
  isColored: boolean,
  redactor?: Redactor,
): Promise<Progress> {
  const { default: ora } = await import("ora");
  const layout = await loadLayout();
  // Leave standard input alone: it may be the file to import.
  const spinner = ora({
    stream,
    discardStdin: false,
    isEnabled: true,
    hideCursor: true,
    color: isColored ? "cyan" : false,
  });
  const status = new StatusLine(clock);
  const refresh = () => {
    const { columns = 80 } = stream as Partial<NodeJS.WriteStream>;
    const line = status.format();
    spinner.text = truncateLine(redactor?.text(line) ?? line, columns, layout);
  };
  let timer: NodeJS.Timeout | undefined;
  return {
    show: (line) => {
      status.show(line);
      refresh();
      if (spinner.isSpinning) return;
      spinner.start();
      timer ??= setInterval(refresh, refreshIntervalMs).unref();
    },
    stop: () => {
      clearInterval(timer);
      timer = undefined;
      spinner.stop();
    },
  };
}

/**
 * Truncates a status line, so that it never wraps: a wrapped line could not be erased. Leaves two columns for the
 * spinner, one that some terminals need at the end of a line, and two for the `^C` of an interruption. Of figures that
 * are separated by `·`, the last ones are dropped, which are the least important; the first one stays.
 */
export function truncateLine(line: string, columns: number, layout: TextLayout = narrowLayout): string {
  const spinner = 2;
  const reserved = 3;
  const width = Math.max(1, columns - spinner - reserved);
  const figures = line.split(separator);
  while (figures.length > 1 && layout.widthOf(figures.join(separator)) > width) figures.pop();
  return layout.truncate(figures.join(separator), width);
}

/** Writes a line every ten seconds, for logs; also while nothing happens, so that a stalled command is noticed. */
export function createLineProgress(stream: Writable, clock: () => number): Progress {
  const status = new StatusLine(clock);
  const start = () => setInterval(() => stream.write(`${status.format()}\n`), lineIntervalMs).unref();
  let timer: NodeJS.Timeout | undefined = start();
  return {
    show: (line) => {
      status.show(line);
      timer ??= start();
    },
    stop: () => {
      clearInterval(timer);
      timer = undefined;
    },
  };
}

/** The current status line and the time of its last update. */
class StatusLine {
  readonly #clock: () => number;
  #line: () => string = () => "";
  #updatedMs: number;

  constructor(clock: () => number) {
    this.#clock = clock;
    this.#updatedMs = clock();
  }

  show(line: () => string): void {
    this.#line = line;
    this.#updatedMs = this.#clock();
  }

  format(): string {
    const stalledMs = this.#clock() - this.#updatedMs;
    const line = sanitizeText(this.#line());
    if (stalledMs < stalledAfterMs) return line === "" ? "working" : line;
    const notice = `no progress for ${formatDuration(stalledMs)}`;
    // At the start, where it is never truncated.
    return line === "" ? notice : `${notice} · ${line}`;
  }
}
