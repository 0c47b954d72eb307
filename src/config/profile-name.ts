import { failedError, type UserError, usageError } from "./user-error.ts";

/** Profiles that are not stored: the embedded database, and the profile from environment variables. */
export const builtInNames = { local: "local", environment: "env" } as const;

export function isBuiltIn(name: string): boolean {
  return Object.values<string>(builtInNames).includes(name);
}

export function isProfileName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name);
}

/**
 * Validates the name of a new profile.
 * @throws UserError `usage`
 */
export function parseNewProfileName(name: string): string {
  const isReserved = isBuiltIn(name);
  if (!isReserved && isProfileName(name) && !Object.hasOwn(Object.prototype, name)) return name;
  throw usageError(
    isReserved ? `the profile name ${name} is reserved` : `invalid profile name ${JSON.stringify(name)}`,
    "Choose another name, with letters, digits, `.`, `_`, and `-`.",
  );
}

export function unknownProfile(name: string, known: readonly string[]): UserError {
  const all = [builtInNames.local, ...known].join(", ");
  return usageError(
    `profile ${JSON.stringify(name)} not found`,
    `Available profiles: ${all}. To create one, run \`starpost auth login --profile <name>\`.`,
    undefined,
    { given: name, known: [builtInNames.local, ...known] },
  );
}

/**
 * Parses the address of a service, and removes a trailing slash.
 * @throws UserError `usage`
 */
export function parseBaseUrl(text: string, source: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isWeb = url?.protocol === "http:" || url?.protocol === "https:";
  // The message must not repeat a password.
  const hasCredentials = /^[^?#]*@/.test(text);
  if (!url || !isWeb || hasCredentials || url.search !== "" || url.hash !== "") {
    throw usageError(
      hasCredentials
        ? `invalid value for ${source}: must not contain a user name or password`
        : `invalid value ${JSON.stringify(text)} for ${source}: must be an http:// or https:// URL`,
      "For example: https://api.example.com or http://127.0.0.1:8080.",
    );
  }
  return url.href.replace(/(?<!\/)\/+$/, "");
}

/** The error for an app key that no account of a database has. */
export function unknownAccount(appKey: string, database: string): UserError {
  return failedError(
    `account ${JSON.stringify(appKey)} not found in ${database}`,
    "To list the accounts, run `starpost account list`.",
  );
}
