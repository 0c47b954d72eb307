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
