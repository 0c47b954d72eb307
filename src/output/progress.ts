import type { Writable } from "node:stream";

/** Where a long command says how far it is. */
export interface Progress {
  /** The state in one line; shown at once on a terminal, now and then elsewhere. */
  show(line: string): void;
  stop(): void;
}

const everyMs = 10_000;

/** Shows nothing. */
export const noProgress: Progress = { show: () => {}, stop: () => {} };

/** Whether a line can be written over: a terminal that does not tell its width cannot say where a line ends. */
export function canAnimate(stream: Writable): boolean {
  const { isTTY, columns } = stream as Partial<NodeJS.WriteStream>;
  return isTTY === true && columns !== undefined && columns > 0;
}

/** One line that is written over, on a terminal. */
export async function createSpinner(stream: Writable): Promise<Progress> {
  const { default: ora } = await import("ora");
  // Standard input is left alone: it may be the file that is imported.
  const spinner = ora({ stream, discardStdin: false, isEnabled: true });
  return {
    show: (line) => {
      spinner.text = line;
      if (!spinner.isSpinning) spinner.start();
    },
    stop: () => {
      spinner.stop();
    },
  };
}

/** A line every ten seconds, for logs. */
export function createLineProgress(stream: Writable, clock: () => number): Progress {
  let lastMs = clock();
  return {
    show: (line) => {
      if (clock() - lastMs < everyMs) return;
      lastMs = clock();
      stream.write(`${line}\n`);
    },
    stop: () => {},
  };
}
