import { type DestinationStream, type Level, type Logger, pino } from "pino";

/** Creates a log of one JSON line per event, with times in ISO 8601. */
export function createServerLog(
  stream: DestinationStream,
  { level, clock }: { readonly level: Level | "silent"; readonly clock: () => number },
): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date(clock()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    stream,
  );
}

/** A log that discards everything. */
export function silentLog(): Logger {
  return pino({ level: "silent" });
}
