import type { DialectName, StorageDialect } from "./dialect.ts";
import { postgres } from "./postgres/dialect.ts";
import { sqlite } from "./sqlite/dialect.ts";

/** The supported databases. */
export const dialects: Readonly<Record<DialectName, StorageDialect>> = { sqlite, postgres };
