import type { CompiledQuery } from "kysely";

/** Creates a mark of queries for the driver: a function that adds it, and one that returns whether a query has it. */
function createMark() {
  const mark = Symbol("mark");
  return [
    (query: CompiledQuery): CompiledQuery => ({ ...query, [mark]: true }) as CompiledQuery,
    (query: CompiledQuery): boolean => mark in query,
  ] as const;
}

/**
 * Marks a statement whose result nobody needs: if a server executes it, its failure is reported by a later statement of
 * the transaction, or by the commit.
 */
export const [defer, isDeferred] = createMark();

/**
 * Marks a change that a server may receive together with the start of the transaction: if the transaction does not start,
 * the change is made, but harms nobody.
 */
export const [markHarmless, isHarmless] = createMark();

/** Marks one of few statements that are executed again and again, so that a server can parse and plan it once. */
export const [markReused, isReused] = createMark();
