import { fileURLToPath } from "node:url";

/** Where a database is: what opens it, and what a person is told it is. */
export type DatabaseAddress =
  | { readonly dialect: "sqlite"; readonly path: string; readonly shownAs: string }
  | { readonly dialect: "postgres"; readonly url: string; readonly shownAs: string };

/** An address that names no database; its words hold nothing of a password. */
export class AddressError extends Error {
  override readonly name = "AddressError";
}

const schemePattern = /^([a-z][a-z0-9+.-]+):/i;
const drivePattern = /^[a-z]:[\\/]/i;

/**
 * Reads a path, a `sqlite:` URL, or a `postgres://` or `postgresql://` URL.
 * @throws AddressError
 */
export function readDatabaseAddress(given: string): DatabaseAddress {
  const scheme = drivePattern.test(given) ? undefined : schemePattern.exec(given)?.[1]?.toLowerCase();
  if (scheme === undefined) return sqliteAt(given);
  if (scheme === "sqlite") {
    const isUrl = /^sqlite:\/\//i.test(given);
    return sqliteAt(
      isUrl ? fileURLToPath(given.replace(/^sqlite:/i, "file:")) : given.slice("sqlite:".length),
    );
  }
  if (scheme === "postgres" || scheme === "postgresql") return postgresAt(given);
  throw new AddressError(`${scheme}: is not a database that this version can open`);
}

function sqliteAt(path: string): DatabaseAddress {
  return { dialect: "sqlite", path, shownAs: path };
}

/** A character that ends a part of an address, unescaped in a password, would show the rest of the password. */
function postgresAt(given: string): DatabaseAddress {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isWhole =
    url !== undefined &&
    url.hash === "" &&
    /^\/[^/@:]+$/.test(url.pathname) &&
    [url.username, url.password, url.pathname].every(isEscaped);
  if (!isWhole) {
    throw new AddressError(
      "a PostgreSQL address is postgres://<role>:<password>@<host>/<database>, with special characters escaped as in %40",
    );
  }
  const role = url.username === "" ? "" : `${url.username}@`;
  return { dialect: "postgres", url: given, shownAs: `postgres://${role}${url.host}${url.pathname}` };
}

function isEscaped(part: string): boolean {
  try {
    decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}
