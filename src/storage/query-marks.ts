import type { CompiledQuery } from "kysely";

const deferred = Symbol("deferred");

/**
 * Marks a statement whose result nobody needs: if a server executes it, its failure is reported by a later statement of
 * the transaction, or by the commit.
 */
export function defer(query: CompiledQuery): CompiledQuery {
  return { ...query, [deferred]: true } as CompiledQuery;
}

export function isDeferred(query: CompiledQuery): boolean {
  return deferred in query;
}

const harmless = Symbol("harmless");

/**
 * Marks a change that a server may receive together with the start of the transaction: if the transaction does not start,
 * the change is made, but harms nobody.
 */
export function markHarmless(query: CompiledQuery): CompiledQuery {
  return { ...query, [harmless]: true } as CompiledQuery;
}

export function isHarmless(query: CompiledQuery): boolean {
  return harmless in query;
}

const reused = Symbol("reused");

/** Marks one of few statements that are executed again and again, so that a server can parse and plan it once. */
export function markReused(query: CompiledQuery): CompiledQuery {
  return { ...query, [reused]: true } as CompiledQuery;
}

export function isReused(query: CompiledQuery): boolean {
  return reused in query;
}
