/** The SQL dialects that the engine runs on. */
export type DialectName = "sqlite";
