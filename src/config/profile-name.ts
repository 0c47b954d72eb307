import { UserError } from "./user-error.ts";

/** Profiles that are there without being made: the embedded database, and what the environment's variables say. */
export const builtInNames = { local: "local", environment: "env" } as const;

export function isBuiltIn(name: string): boolean {
  return Object.values<string>(builtInNames).includes(name);
}

/** Checks the name of a profile that is made. */
export function readNewProfileName(name: string): string {
  const isTaken = isBuiltIn(name);
  const isName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name) && !Object.hasOwn(Object.prototype, name);
  if (!isTaken && isName) return name;
  throw new UserError(
    "usage",
    isTaken
      ? `the profile ${name} is always there and cannot be signed in`
      : `${JSON.stringify(name)} is not a name for a profile`,
    "Name another: letters, digits, `.`, `_` and `-`.",
  );
}

export function unknownProfile(name: string, known: readonly string[]): UserError {
  const all = [builtInNames.local, ...known].join(", ");
  return new UserError(
    "usage",
    `there is no profile ${JSON.stringify(name)}`,
    `There are: ${all}. \`starpost auth login --profile <name>\` makes one.`,
    undefined,
    { given: name, known: [builtInNames.local, ...known] },
  );
}

/** Checks a service's address and takes off the slash at its end. */
export function readBaseUrl(text: string, source: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isWeb = url?.protocol === "http:" || url?.protocol === "https:";
  // A password is not repeated.
  const isSigned = /^[^?#]*@/.test(text);
  if (!url || !isWeb || isSigned || url.search !== "" || url.hash !== "") {
    throw new UserError(
      "usage",
      `${source}: ${isSigned ? "what holds a user or a password" : JSON.stringify(text)} is not an address of a service`,
      "Give one such as https://api.example.com or http://127.0.0.1:8080.",
    );
  }
  return url.href.replace(/\/+$/, "");
}
