import {
  type CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
} from "kysely";
import { expect, it } from "vitest";
import { batchOf, batchRows } from "../../../src/storage/batch.ts";
import { postgres } from "../../../src/storage/postgres/dialect.ts";
import { createStatement, isReused } from "../../../src/storage/statement.ts";
import type { Tables } from "../../../src/storage/tables.ts";

const sent: CompiledQuery[] = [];

/** A database that only records statements. */
const db = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (kysely) => new PostgresIntrospector(kysely),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
  log: ({ query }) => void sent.push(query),
});

it("passes a value only once that a statement uses several times", async () => {
  const find = createStatement<{ id: number; name: string }>(
    (slot) =>
      sql`select ${1}, ${slot("name")}, ${slot("id")} from t where id = ${slot("id")} or name in (${slot("name")}, ${1})`,
  );
  await find(db, postgres, { id: 7, name: "a" });
  await find(db, postgres, { id: 8, name: "b" });
  const text = "select $1, $2, $3 from t where id = $3 or name in ($2, $4)";
  expect(sent.splice(0)).toMatchObject([
    { sql: text, parameters: [1, "a", 7, 1] },
    { sql: text, parameters: [1, "b", 8, 1] },
  ]);
});

it("passes the rows of a batch as one value", async () => {
  const columns = { id: "integer" } as const;
  const read = createStatement<{ rows: string }>(
    (slot, dialect) => sql`select id from ${batchOf<{ id: number }>(columns, slot("rows"), dialect)}`,
  );
  await read(db, postgres, { rows: "[[5],[6]]" });
  await db
    .selectFrom(batchRows<{ id: number }>(columns, [[5], [6], [7]], postgres))
    .selectAll()
    .execute();
  const [compiled, built] = sent.splice(0);
  expect(compiled?.parameters).toEqual(["[[5],[6]]"]);
  expect(built?.parameters).toEqual(["[[5],[6],[7]]"]);
});

it("is marked as one that is executed again", async () => {
  const find = createStatement<{ id: number }>((slot) => sql`select ${slot("id")}`);
  await find(db, postgres, { id: 7 });
  await sql`select 1`.execute(db);
  expect(sent.splice(0).map(isReused)).toEqual([true, false]);
});
