import { type DestinationStream, type Level, type Logger, pino } from "pino";

/** Makes the server's log: one JSON line an event, with its time in ISO 8601. */
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

/** A log that is kept nowhere. */
export function silentLog(): Logger {
  return pino({ level: "silent" });
}
