import { type Check, failed, problem } from "./check.ts";

/** Carries out a look, and says what it is called where it fails or takes too long. */
export type Guard = (
  names: readonly string[],
  look: () => Promise<readonly Check[]>,
) => Promise<readonly Check[]>;

/** A look that cannot be broken off is left alone after this time, milliseconds. */
export function createGuard(timeoutMs: number): Guard {
  return async (names, look) => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<readonly Check[]>((resolve) => {
      timer = setTimeout(() => resolve(names.map((name) => sayLate(name, timeoutMs))), timeoutMs);
    });
    try {
      return await Promise.race([look(), late]);
    } catch (error) {
      return names.map((name) => failed(name, error, "See what it says."));
    } finally {
      clearTimeout(timer);
    }
  };
}

function sayLate(name: string, timeoutMs: number): Check {
  const message = `nothing was found out in ${Number((timeoutMs / 1_000).toFixed(1))} s`;
  return problem(name, message, "See whether its disk or its network answers; --timeout waits longer.");
}
