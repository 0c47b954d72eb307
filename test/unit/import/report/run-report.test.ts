import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readRunReport } from "../../../../src/import/report/run-report.ts";
import { removeRunFiles } from "../../../../src/import/people/person-rows.ts";
import { findRun } from "../../../../src/import/run/run-folder.ts";
import { recordKinds } from "../../../../src/records/index.ts";
import { openPipeline, type Pipeline } from "../../../support/pipeline.ts";

let pipeline: Pipeline;
beforeEach(async () => {
  pipeline = await openPipeline();
});
afterEach(() => pipeline[Symbol.asyncDispose]());

const report = (id: string | null) => readRunReport(pipeline.deps().runsFolder, id ?? "", recordKinds);

test("describes a run: files, options, reject reasons, and times", async () => {
  const bad = Array.from({ length: 7 }, (_, at) => `b${at},,https://shop.example/b${at}\n`).join("");
  const content = `product_id,name,url\np1,Teapot,https://shop.example/p1\n${bad}bad id!,Cup,https://shop.example/c\n`;
  const summary = await pipeline.run("products", content, {
    batchSize: 1,
    set: { brand: "Acme" },
    maxErrors: { percent: 95 },
  });
  const found = report(summary.import_id);
  expect(found).toMatchObject({
    summary,
    profile: "local",
    target: "database of the test",
    version: "0.0.0-test",
    options: { "--batch-size": "1", "--set": "brand=Acme", "--max-errors": "95%" },
    files: [{ file: join(pipeline.folder, "products.csv"), size_bytes: content.length, delimiter: "," }],
    rows_without_reason: 0,
    verified: null,
    undone: null,
  });
  expect(found.reasons.map(({ code, column, rows }) => [code, column, rows])).toEqual([
    ["missing", "name", 7],
    [expect.any(String), "product_id", 1],
  ]);
  const [missing, invalid] = found.reasons;
  expect(missing?.examples).toMatchObject([{ line: 3, value: "" }]);
  expect(invalid?.examples).toMatchObject([{ line: 10, value: "bad id!" }]);
  expect(found.timeline.attempts).toHaveLength(1);
});

test("shows at most five examples of a reason, shortened", async () => {
  const long = "😀".repeat(200);
  const rows = Array.from({ length: 8 }, (_, at) => `${at} ${long},Cup,https://shop.example/c\n`).join("");
  const { import_id } = await pipeline.run("products", `product_id,name,url\n${rows}`);
  const [reason] = report(import_id).reasons;
  expect(reason).toMatchObject({ column: "product_id", rows: 8 });
  expect(reason?.examples).toHaveLength(5);
  for (const { value } of reason?.examples ?? []) {
    expect(value?.length).toBeLessThanOrEqual(121);
    expect(value?.isWellFormed()).toBe(true);
  }
});

test("includes the last verification", async () => {
  const content = "product_id,name,url\np1,Teapot,https://shop.example/p1\n";
  const { import_id } = await pipeline.run("products", content, { verify: true });
  expect(report(import_id)).toMatchObject({
    options: { "--verify": "yes" },
    verified: { state: "finished", checked: { rows: 1, items: 1 }, missing_count: 0 },
  });
});

test("includes rewritten IDs, and what was reported about the rows", async () => {
  const header = "order_id,order_date,customer_name,email,product_id,product_name,product_url\n";
  const rows = Array.from({ length: 25 }, (_, at) =>
    ["Tea", "Cup"].map((name) => `${at},2026-01-02,A,a@b.example,p ${at},${name},https://shop.example/p\n`).join(""),
  );
  const { import_id } = await pipeline.run("orders", `${header}${rows.join("")}`, { fixIds: true });
  const { notices, fixed_ids } = report(import_id);
  expect(fixed_ids.count).toBe(25);
  expect(fixed_ids.examples).toHaveLength(20);
  expect(fixed_ids.examples[0]).toEqual(["p 0", expect.stringMatching(/^p-0-[a-z2-7]{10}$/)]);
  expect(notices).toContainEqual(
    expect.stringMatching(/^25 products have several names: .*, and \d+ more; .*--product-id-from/),
  );

  // An erasure removes what quotes the rows.
  const { runsFolder, clock } = pipeline.deps();
  await removeRunFiles(import_id ?? "", { runsFolder, clock });
  expect(findRun(runsFolder, import_id ?? "")).not.toHaveProperty("notices");
});
