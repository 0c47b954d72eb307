/** The SQL dialects that the engine runs on. */
export type DialectName = "sqlite" | "postgres";

/** How long a statement waits for another process's write where nothing else is said, milliseconds. */
export const defaultBusyTimeoutMs = 10_000;
