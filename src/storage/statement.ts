import { type CompiledQuery, type Kysely, type RawBuilder, sql } from "kysely";
import type { StorageDialect } from "./dialect.ts";
import type { Tables } from "./tables.ts";

/** A placeholder in a statement for a value that is passed to each execution. */
class Slot {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

type Build<V> = (slot: (name: keyof V & string) => RawBuilder<unknown>, dialect: StorageDialect) => RawBuilder<unknown>;

type Execute<V, R> = (
  db: Kysely<Tables>,
  dialect: StorageDialect,
  values: V,
) => Promise<{ readonly affectedRows: number; readonly rows: R[] }>;

/**
 * Creates a statement that is compiled once and executed with different values, because compiling a statement takes
 * longer than executing a small one.
 * @param mark marks each query for the driver
 */
export function createStatement<V extends Record<keyof V, string | number>, R = never>(
  build: Build<V>,
  mark = (query: CompiledQuery) => query,
): Execute<V, R> {
  const compile = createCompiler(build);
  return async (db, dialect, values) => {
    const { numAffectedRows, rows } = await db.executeQuery<R>(mark(compile(db, dialect, values)));
    return { affectedRows: Number(numAffectedRows ?? 0n), rows };
  };
}

/**
 * Like `createStatement`, for a change of which nobody needs the result. A server receives it without a wait: if it
 * fails, the transaction fails with its error, at a later statement or at the commit.
 */
export function createDeferredStatement<V extends Record<keyof V, string | number>>(
  build: Build<V>,
): (...parameters: Parameters<Execute<V, never>>) => Promise<void> {
  const compile = createCompiler(build);
  return async (db, dialect, values) => {
    await db.executeQuery(defer(compile(db, dialect, values)));
  };
}

function createCompiler<V extends Record<keyof V, string | number>>(build: Build<V>) {
  const compiled = new Map<StorageDialect, CompiledQuery>();
  return (db: Kysely<Tables>, dialect: StorageDialect, values: V): CompiledQuery => {
    let query = compiled.get(dialect);
    if (!query) {
      query = markReused(shareSlots(build((name) => sql`${new Slot(name)}`, dialect).compile(db)));
      compiled.set(dialect, query);
    }
    const parameters = query.parameters.map((parameter) =>
      parameter instanceof Slot ? values[parameter.name as keyof V] : parameter,
    );
    return { ...query, parameters };
  };
}

/** Passes the value of a slot only once if the statement has numbered placeholders (`$1`), because values may be long. */
function shareSlots(query: CompiledQuery): CompiledQuery {
  const parameters: unknown[] = [];
  const numbers = new Map<unknown, number>();
  const text = query.sql.replaceAll(/\$(\d+)/g, (_, number: string) => {
    const parameter = query.parameters[Number(number) - 1];
    const key = parameter instanceof Slot ? parameter.name : new Slot("");
    const known = numbers.get(key) ?? parameters.push(parameter);
    numbers.set(key, known);
    return `$${known}`;
  });
  return parameters.length === 0 ? query : { ...query, sql: text, parameters };
}

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
