import { type CompiledQuery, type Kysely, type RawBuilder, sql } from "kysely";
import type { DialectName } from "./dialect.ts";
import type { Tables } from "./tables.ts";

/** Stands in a statement for a value that each run gives. */
class Slot {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

type Build<V> = (
  slot: (name: keyof V & string) => RawBuilder<unknown>,
  dialect: DialectName,
) => RawBuilder<unknown>;

type Run<V, R> = (
  db: Kysely<Tables>,
  dialect: DialectName,
  values: V,
) => Promise<{ readonly affectedRows: number; readonly rows: R[] }>;

/** A statement that is built once and run with other values each time; building costs more than a small run. */
export function createStatement<V extends Record<keyof V, string | number>, R = never>(
  build: Build<V>,
): Run<V, R> {
  const built = new Map<DialectName, CompiledQuery>();
  return async (db, dialect, values) => {
    let query = built.get(dialect);
    if (!query) {
      query = build((name) => sql`${new Slot(name)}`, dialect).compile(db);
      built.set(dialect, query);
    }
    const parameters = query.parameters.map((held) =>
      held instanceof Slot ? values[held.name as keyof V] : held,
    );
    const { numAffectedRows, rows } = await db.executeQuery<R>({ ...query, parameters });
    return { affectedRows: Number(numAffectedRows ?? 0n), rows };
  };
}
