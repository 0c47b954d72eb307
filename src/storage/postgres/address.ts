import { AddressError } from "../storage-error.ts";
import type { DatabaseAddress } from "../dialect.ts";

/**
 * Parses a `postgres://` or `postgresql://` URL. Special characters must be escaped: an unescaped delimiter in the
 * password would show the rest of the password.
 * @throws AddressError
 */
export function parsePostgresAddress(text: string): DatabaseAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isValid =
    url !== undefined &&
    url.hash === "" &&
    /^\/[^/@:]+$/.test(url.pathname) &&
    [url.username, url.password, url.pathname].every(isEscaped);
  if (!isValid) {
    throw new AddressError(
      "a PostgreSQL address has the form postgres://<role>:<password>@<host>/<database>, with special characters escaped (@ as %40)",
    );
  }
  const role = url.username === "" ? "" : `${url.username}@`;
  const shownAs = `postgres://${role}${url.host}${url.pathname}`;
  return { dialect: "postgres", location: text, isFile: false, shownAs };
}

function isEscaped(part: string): boolean {
  try {
    decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}
