import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Environment, readVariable } from "./environment.ts";
import type { Paths } from "./paths.ts";

/** A profile in a list of completions. */
export interface NamedProfile {
  readonly name: string;
  readonly about: string;
}

/**
 * Lists the profiles for shell completion: synchronously, without loading what is needed to use a profile, and without
 * reporting errors. Source: `profiles.json`, as the profile store writes it.
 */
export function listProfileNames(env: Environment, { configFolder }: Pick<Paths, "configFolder">): NamedProfile[] {
  const isAdHoc = readVariable(env, "STARPOST_BASE_URL") !== undefined;
  return [
    { name: "local", about: "embedded database" },
    ...(isAdHoc ? [{ name: "env", about: "from environment variables" }] : []),
    ...readStored(join(configFolder, "profiles.json")),
  ];
}

function readStored(path: string): NamedProfile[] {
  try {
    const { profiles } = JSON.parse(readFileSync(path, "utf8")) as { readonly profiles?: unknown };
    const found = Object.entries((profiles ?? {}) as Readonly<Record<string, Readonly<Record<string, unknown>>>>);
    return found
      .filter(([name]) => /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name))
      .map(([name, { base_url: address, live }]) => ({
        name,
        about: `${typeof address === "string" ? address : "separate database"}${live === true ? ", live" : ""}`,
      }));
  } catch {
    return [];
  }
}
