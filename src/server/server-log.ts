import { type DestinationStream, type Level, type Logger, pino } from "pino";
import { isClockTime } from "../contract/time.ts";

/** Creates a log of one JSON line per event, with times in ISO 8601. */
export function createServerLog(
  stream: DestinationStream,
  { level, clock }: { readonly level: Level | "silent"; readonly clock: () => number },
): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: () => {
        const nowMs = clock();
        return `,"time":${isClockTime(nowMs) ? `"${new Date(nowMs).toISOString()}"` : "null"}`;
      },
      formatters: { level: (label) => ({ level: label }) },
    },
    stream,
  );
}

/** A log file that can be rotated. */
export interface LogFile extends DestinationStream {
  /** Opens the path again, after another program has renamed the file. */
  reopen(): void;
}

/**
 * Opens a file to append to, which only its owner can read.
 * @throws the error of the file system
 */
export function openLogFile(path: string): LogFile {
  return pino.destination({ dest: path, mode: 0o600, sync: true });
}

/** A log that discards everything. */
export function silentLog(): Logger {
  return pino({ level: "silent" });
}
