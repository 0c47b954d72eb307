import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { AddressError } from "./storage-error.ts";
import type { DatabaseAddress } from "./dialect.ts";
import { parsePostgresAddress } from "./postgres/address.ts";

export { AddressError } from "./storage-error.ts";

/** At least two letters, because one is the drive of a path on Windows. */
const schemePattern = /^([a-z][a-z0-9+.-]+):/i;

/**
 * Parses a path, a `sqlite:` URL, or a `postgres://` or `postgresql://` URL.
 * @throws AddressError
 */
export function parseDatabaseAddress(text: string): DatabaseAddress {
  const scheme = schemePattern.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined) return toFileAddress(text);
  if (scheme === "sqlite") {
    return toFileAddress(
      /^sqlite:\/\//i.test(text) ? fileURLToPath(text.replace(/^sqlite:/i, "file:")) : text.slice("sqlite:".length),
    );
  }
  if (scheme === "postgres" || scheme === "postgresql") return parsePostgresAddress(text);
  throw new AddressError(`unsupported database scheme "${scheme}:"`);
}

/** Whether a database in a file does not exist, or is empty. */
export function isMissingFile({ isFile, location }: DatabaseAddress): boolean {
  if (!isFile || location === ":memory:") return false;
  try {
    return !statSync(location, { throwIfNoEntry: false })?.size;
  } catch {
    // Opening the file reports the reason.
    return false;
  }
}

function toFileAddress(path: string): DatabaseAddress {
  return { dialect: "sqlite", location: path, isFile: true, shownAs: path };
}
