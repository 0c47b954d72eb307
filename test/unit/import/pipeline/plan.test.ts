import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { checkPlan, importOf, readPlan } from "../../../../src/import/plan/plan-file.ts";
import { openPipeline, type Pipeline } from "../../../support/pipeline.ts";

let pipeline: Pipeline;
beforeEach(async () => {
  pipeline = await openPipeline();
});
afterEach(() => pipeline[Symbol.asyncDispose]());

const header = "product_id,name,url\n";
const products = `${header}p1,Teapot,https://shop.example/p1\np2,Cup,https://shop.example/p2\n`;
const here = { profileName: "local", target: "database of the test" };

test("counts rows, calls, repetitions, and what is stored already", async () => {
  await pipeline.run("products", products);
  pipeline.harness.clock.advance(86_400_000);
  const changed = `${header}p1,Large teapot,https://shop.example/p1\np3,,x\np1,Large teapot,https://shop.example/p1\n`;
  const plan = await pipeline.plan("products", changed);
  expect(plan).toMatchObject({
    kind: "products",
    state: "finished",
    profile: "local",
    rows: { read: 3, accepted: 2, rejected: 1, failed: 0 },
    items: { accepted: 1, created: 0, changed: 1, unchanged: 0 },
    time: { rate: null },
    repeated: { rows: 1, first: expect.stringMatching(/:4$/) },
    there: { items: 1, changed: 1, purchases_added: null },
    mails: null,
    plan_file: null,
    rejects_file: null,
  });
  expect(plan.rejects.map(({ code, count }) => [code, count])).toEqual([["missing", 1]]);
});

test("reports IDs that differ only in form, and IDs with several names", async () => {
  const plan = await pipeline.plan(
    "products",
    `${products}P1,Teapot,https://shop.example/p1\np2,Mug,https://shop.example/p2\n`,
  );
  expect(plan.collisions).toMatchObject({ count: 1, examples: [{ ids: ["p1", "P1"] }] });
  expect(plan.names).toMatchObject({ count: 1, examples: [{ id: "p2", names: ["Cup", "Mug"] }] });
});

test("keeps no run of the rehearsal", async () => {
  await pipeline.plan("products", products);
  const summary = await pipeline.run("products", products);
  expect(pipeline.notices().filter((message) => message.includes("already imported"))).toEqual([]);
  expect(summary.state).toBe("finished");
});

describe("saved", () => {
  const save = async () => {
    const out = join(pipeline.folder, "plan.json");
    const { plan_file } = await pipeline.plan("products", products, { out, productUrl: undefined });
    expect(plan_file).toBe(out);
    return out;
  };

  test("names the files, and applies to them while they are unchanged", async () => {
    const plan = readPlan(await save(), pipeline.folder);
    expect(plan.files).toMatchObject([{ path: join(pipeline.folder, "products.csv"), size_bytes: products.length }]);
    expect(plan.summary.rows).toEqual({ accepted: 2, rejected: 0, failed: 0 });
    expect(importOf(plan, pipeline.folder)).toMatchObject({ kind: "products", options: { dryRun: false, map: {} } });
    expect(importOf(plan, "/").files).toEqual([join(pipeline.folder, "products.csv")]);
    await checkPlan(plan, here);
  });

  test.each([
    ["changed", () => pipeline.write("products.csv", `${products}\n`)],
    ["of the same size", () => pipeline.write("products.csv", products.replace("Cup", "Mug"))],
  ])("does not apply to files that are %s", async (_how, change) => {
    const plan = readPlan(await save(), pipeline.folder);
    change();
    await expect(checkPlan(plan, here)).rejects.toMatchObject({ kind: "usage" });
  });

  test("does not apply to another profile or account", async () => {
    const plan = readPlan(await save(), pipeline.folder);
    await expect(checkPlan(plan, { ...here, profileName: "live" })).rejects.toMatchObject({ kind: "usage" });
    await expect(checkPlan(plan, { ...here, target: "elsewhere" })).rejects.toMatchObject({ kind: "usage" });
  });

  test("is refused after it was edited, but not after it was reformatted", async () => {
    const out = await save();
    const plan = JSON.parse(readFileSync(out, "utf8")) as Record<string, unknown>;
    writeFileSync(out, JSON.stringify(plan));
    expect(readPlan(out, "/").kind).toBe("products");
    writeFileSync(out, JSON.stringify({ ...plan, profile: "live" }));
    expect(() => readPlan(out, "/")).toThrow(expect.objectContaining({ kind: "usage" }));
  });

  test("is the same whatever the order of its properties", async () => {
    const out = await save();
    const plan = JSON.parse(readFileSync(out, "utf8")) as Record<string, unknown>;
    const reverse = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(reverse);
      if (typeof value !== "object" || value === null) return value;
      const entries = Object.entries(value).toReversed();
      return Object.fromEntries(entries.map(([name, held]) => [name, reverse(held)]));
    };
    writeFileSync(out, JSON.stringify(reverse(plan)));
    expect(plan).toMatchObject(readPlan(out, "/"));
  });

  test("by an earlier version is accepted, unless its files are in another order", () => {
    const files = ["b.csv", "a.csv"].map((given) => ({ given, path: `/shop/${given}`, size_bytes: 1, sha256: "0" }));
    const rows = { accepted: 2, rejected: 0, failed: 0 };
    const plan = {
      format: 1,
      version: "0.0.0",
      kind: "orders",
      files,
      beside: [],
      options: { map: { email: "Mail" } },
      profile: "local",
      target: "here",
      created_at: "2026-01-01T00:00:00Z",
      summary: { rows, items: { accepted: 2 }, mails: null },
      checksum: "d605495f7439cc401a6b18bdc2512bc82ad4341032d5900bf6372d9dd95ac8c8",
    };
    pipeline.write("old.json", JSON.stringify(plan));
    expect(readPlan("old.json", pipeline.folder).files.map(({ given }) => given)).toEqual(["b.csv", "a.csv"]);
    pipeline.write("old.json", JSON.stringify({ ...plan, files: files.toReversed() }));
    expect(() => readPlan("old.json", pipeline.folder)).toThrow(expect.objectContaining({ kind: "usage" }));
  });

  test.each(["no JSON", "[]", "{}", '{"format":2,"checksum":""}'])("is refused if it contains %s", (content) => {
    pipeline.write("plan.json", content);
    expect(() => readPlan("plan.json", pipeline.folder)).toThrow(expect.objectContaining({ kind: "usage" }));
  });

  test("is refused if it does not exist, and cannot be made of standard input", async () => {
    expect(() => readPlan("none.json", pipeline.folder)).toThrow(expect.objectContaining({ kind: "usage" }));
    const planned = pipeline.plan("products", products, { out: join(pipeline.folder, "products.csv") });
    await expect(planned).rejects.toMatchObject({ kind: "usage" });
  });
});
