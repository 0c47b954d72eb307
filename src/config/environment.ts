/** The variables of the process, as `main.ts` hands them on. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A variable's value; one that is empty counts as not set. */
export function readVariable(env: Environment, name: string): string | undefined {
  return env[name] === "" ? undefined : env[name];
}
