/** Environment variables, as passed on by `main.ts`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads a variable. An empty value counts as not set. */
export function readVariable(env: Environment, name: string): string | undefined {
  return env[name] === "" ? undefined : env[name];
}
