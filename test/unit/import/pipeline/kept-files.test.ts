import { existsSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findPersonRuns, removeRunFiles } from "../../../../src/import/people/person-rows.ts";
import { undoImport } from "../../../../src/import/undo/undo.ts";
import { verifyImport } from "../../../../src/import/verify/verify.ts";
import { backends } from "../../../support/backends.ts";
import { openPipeline, type Pipeline } from "../../../support/pipeline.ts";

let pipeline: Pipeline;
afterEach(() => pipeline[Symbol.asyncDispose]());

const rows = 500;
const content =
  "order_id,order_date,customer_name,email,product_id,product_name,product_url,product_price\n" +
  Array.from(
    { length: rows },
    (_, at) =>
      `o-${at},2026-01-02,Ann,ann${at}@shop.example,p-${at % 20},Cup ${at % 20},https://shop.example/p-${at % 20},5\n`,
  ).join("");

const request = { isPlan: false, maxListed: 10, listsExceptions: false, confirm: async () => {} };

describe.each(backends)("over $name", (backend) => {
  beforeEach(async () => {
    pipeline = await openPipeline([backend]);
  });

  const file = () => join(pipeline.folder, "orders.csv");
  const moved = () => join(pipeline.folder, "elsewhere");
  /** Imports a file, deletes it, and moves the folder of the runs. */
  const importAndLose = async () => {
    const { import_id } = await pipeline.run("orders", content);
    rmSync(file());
    renameSync(join(pipeline.folder, "imports"), moved());
    return { id: import_id ?? "", deps: pipeline.deps({ runsFolder: moved() }) };
  };

  test("a run is verified and undone when its file is deleted and its folder moved", async () => {
    const { id, deps } = await importAndLose();
    expect(await verifyImport(id, { maxListed: 10 }, deps)).toMatchObject({
      checked: { rows },
      missing_count: 0,
      different_count: 0,
    });
    await pipeline.harness.database.db.updateTable("orders").set({ customer_name: "Eve" }).execute();
    const found = await verifyImport(id, { maxListed: 10 }, deps);
    expect([found.different_count, found.different[0]?.expected]).toEqual([rows, "Ann"]);
    expect(await undoImport(id, request, deps)).toMatchObject({ state: "finished", reversed: rows });
    // Restored files do not stay.
    expect(readdirSync(join(moved(), id)).filter((name) => name.startsWith("starpost-spill-"))).toEqual([]);
  });

  test("a run is verified against its own file when the file has changed", async () => {
    const { import_id } = await pipeline.run("orders", content);
    for (const changed of [content.replace("Ann", "Eve"), "", "email\n"]) {
      writeFileSync(file(), changed);
      expect(await verifyImport(import_id ?? "", { maxListed: 10 }, pipeline.deps())).toMatchObject({
        checked: { rows },
        different_count: 0,
      });
    }
  });

  test("the copy is private, and small", async () => {
    const { import_id } = await pipeline.run("orders", content);
    const { mode, size } = statSync(join(pipeline.folder, "imports", import_id ?? "", "file-1.br"));
    expect(mode & 0o777).toBe(0o600);
    expect(size).toBeLessThan(content.length * 0.15);
  });

  test("without a copy, the error names the path and the hash of the file", async () => {
    const { id, deps } = await importAndLose();
    rmSync(join(moved(), id, "file-1.br"));
    await expect(verifyImport(id, { maxListed: 10 }, deps)).rejects.toMatchObject({
      kind: "usage",
      message: expect.stringContaining(file()),
      hint: expect.stringMatching(/\b[0-9a-f]{64}\b/),
    });
  });

  test("a customer is found in the copy, which an erasure removes", async () => {
    const { id } = await importAndLose();
    const where = { runsFolder: moved(), target: "database of the test" };
    const [run] = await findPersonRuns("ann7@shop.example", where);
    expect(run).toMatchObject({ import_id: id, rows: [{ line: 9, values: { order_id: "o-7" } }], outside: [] });
    expect(await findPersonRuns("nobody@shop.example", where)).toEqual([]);
    await removeRunFiles(id, { runsFolder: moved(), clock: pipeline.harness.clock });
    expect(existsSync(join(moved(), id, "file-1.br"))).toBe(false);
  });
});
