import type { DialectName, StorageDialect } from "./dialect.ts";
import { postgres } from "./postgres/dialect.ts";
import { sqlite } from "./sqlite/dialect.ts";
import { SchemaError, StorageError } from "./storage-error.ts";

/** The supported databases. */
export const dialects: Readonly<Record<DialectName, StorageDialect>> = { sqlite, postgres };

/**
 * Converts an error of a database driver. Returns undefined if it is not a storage error.
 * @param shownAs the database as it is shown to users
 */
export function toStorageError(error: unknown, shownAs: string): StorageError | undefined {
  if (error instanceof StorageError) return error;
  if (error instanceof SchemaError)
    return new StorageError("notOurs", `${shownAs}: ${error.message}`, error, error.hint);
  const issue = dialects.postgres.explainError(error) ?? dialects.sqlite.explainError(error);
  if (!issue) return undefined;
  const [problem, description, hint] = issue;
  return new StorageError(problem, `${shownAs}: ${description}`, error, hint?.(shownAs));
}
