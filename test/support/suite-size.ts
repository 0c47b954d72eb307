/** Whether `npm run test:slow` is running. */
export const isSlowSuite = process.env["STARPOST_TEST_SLOW"] === "1";

/**
 * Whether the conformance suite runs over every pair of a way to the engine and a database: in `npm run test:slow`, and if
 * the databases are chosen with `STARPOST_TEST_DATABASES`.
 */
export const testsAllPairs = isSlowSuite || process.env["STARPOST_TEST_DATABASES"] !== undefined;

/** How often a test repeats something, or how large its input is: `fast` in `npm test`, `slow` in `npm run test:slow`. */
export function chooseSize(fast: number, slow: number): number {
  return isSlowSuite ? slow : fast;
}

/**
 * Every item in the slow suite, every `step`th item otherwise. Callers that pass different offsets together cover
 * every item.
 */
export function sample<T>(items: readonly T[], { offset, step }: { offset: number; step: number }): T[] {
  return items.filter((_, at) => isSlowSuite || at % step === offset % step);
}

/** Whether mutation tests are running, which repeat the tests thousands of times. */
export const isMutationSuite = process.env["STARPOST_TEST_MUTATION"] === "1";

/** How often a property is checked: as given, and a few times in mutation tests. */
export function countRuns(runs: number): number {
  return isMutationSuite ? Math.min(runs, 20) : runs;
}
