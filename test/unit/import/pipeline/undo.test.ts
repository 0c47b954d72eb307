import { readFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ServiceError } from "../../../../src/contract/index.ts";
import { ImportError } from "../../../../src/import/import-error.ts";
import { undoImport } from "../../../../src/import/undo/undo.ts";
import type { UndoRequest } from "../../../../src/import/undo/undone-run.ts";
import type { ImportDeps } from "../../../../src/import/deps.ts";
import { openPipeline, type Pipeline } from "../../../support/pipeline.ts";

let pipeline: Pipeline;
beforeEach(async () => {
  pipeline = await openPipeline();
});
afterEach(() => pipeline[Symbol.asyncDispose]());

const header = "product_id,name,url,description,price\n";
const before = `${header}p1,Teapot,https://shop.example/p1,Blue,10\np2,Cup,https://shop.example/p2,,5\n`;
const after = `${header}p1,Large teapot,https://shop.example/p1,Green,10\np2,Cup,https://shop.example/p2,Small,5\np3,Bowl,https://shop.example/p3,,\n`;

const undo = (id: string | null, request: Partial<UndoRequest> = {}, replaced: Partial<ImportDeps> = {}) => {
  const whole = { isPlan: false, maxListed: 10, listsExceptions: false, confirm: async () => {}, ...request };
  return undoImport(id ?? "", whole, pipeline.deps(replaced));
};
const names = async () => {
  const { products } = await pipeline.service.core.listProducts({ details: true });
  return Object.fromEntries(products.map(({ external_id, name, description }) => [external_id, [name, description]]));
};

/** Imports the products, then changes them with an undoable run, whose ID it returns. */
const change = async () => {
  await pipeline.run("products", before);
  pipeline.harness.clock.advance(1_000);
  return (await pipeline.run("products", after, { undoable: true })).import_id;
};

test("restores products, and says which rows it cannot undo", async () => {
  const undone = await undo(await change());
  expect(undone).toMatchObject({ state: "finished", reversed: 2, kept: 0, impossible: 1, rows_not_taken: 0, calls: 2 });
  expect(undone.rows.map(({ line, key, outcome }) => [line, key, outcome])).toEqual([
    [2, "p1", "reversed"],
    [3, "p2", "reversed"],
    [4, "p3", "impossible"],
  ]);
  expect(await names()).toMatchObject({ p1: ["Teapot", "Blue"], p2: ["Cup", null], p3: ["Bowl", null] });
  expect(readFileSync(undone.rows_file ?? "", "utf8").split("\n")).toHaveLength(5);
});

test("a plan changes nothing, and asks nothing", async () => {
  const id = await change();
  const planned = await undo(id, { isPlan: true, confirm: () => Promise.reject(new Error("asked")) });
  expect(planned).toMatchObject({ state: "planned", reversed: 2, impossible: 1, rows: [], rows_file: null });
  expect(await names()).toMatchObject({ p1: ["Large teapot", "Green"] });
});

test("changes nothing without confirmation, which shows the counts", async () => {
  const id = await change();
  const questions: unknown[] = [];
  const confirm = async (counts: unknown) => {
    questions.push(counts);
    throw new Error("no");
  };
  await expect(undo(id, { confirm })).rejects.toThrow("no");
  expect(questions).toEqual([{ import_id: id, kind: "products", reversed: 2, kept: 0, impossible: 1 }]);
  expect(await names()).toMatchObject({ p1: ["Large teapot", "Green"] });
});

test.each([
  ["invalidParams", 2],
  ["bodyTooLarge", 2],
  ["malformedBody", 2],
  ["internal", undefined],
  ["unauthorized", undefined],
] as const)("a call that fails with %s undoes nothing; rows given up: %s", async (kind, impossible) => {
  const id = await change();
  const massUpdate = () => Promise.reject(new ServiceError(kind, "no"));
  const service = { ...pipeline.service, products: { ...pipeline.service.products, massUpdate } };
  const openService = async () => ({ service, concurrency: 1, keepsOrder: true, close: async () => {} });
  const running = undo(id, {}, { openService });
  if (impossible === undefined) await expect(running).rejects.toBeInstanceOf(ImportError);
  else expect(await running).toMatchObject({ reversed: 0, kept: 0, impossible: impossible + 1 });
  expect(await names()).toMatchObject({ p1: ["Large teapot", "Green"], p2: ["Cup", "Small"] });
});

test.each([
  ["an error while the run stops is an error", true, new Error("no"), "no"],
  ["an abort that nobody asked for is an error", false, new DOMException("aborted", "AbortError"), "aborted"],
  ["an abort because the run stops ends it", true, new DOMException("aborted", "AbortError"), undefined],
])("%s", async (_what, stops, error, message) => {
  const stop = new AbortController();
  const confirm = () => {
    if (stops) stop.abort();
    return Promise.reject(error);
  };
  const undone = undo(await change(), { confirm }, { stop: stop.signal });
  if (message === undefined) expect(await undone).toMatchObject({ state: "interrupted" });
  else await expect(undone).rejects.toThrow(message);
});

test("refuses another account's run", async () => {
  const id = await change();
  await expect(undo(id, {}, { target: "elsewhere" })).rejects.toMatchObject({ kind: "usage" });
});

test("puts unsubscribed addresses back", async () => {
  await pipeline.run("unsubscribers", "email\nann@shop.example\n", { emailType: "1" });
  pipeline.harness.clock.advance(1_000);
  const list = "email\nann@shop.example\nbo@shop.example\n";
  const { import_id } = await pipeline.run("unsubscribers", list, { emailType: "1", undoable: true });
  expect(await undo(import_id)).toMatchObject({ reversed: 1, kept: 1, impossible: 0 });
  const { unsubscribers } = await pipeline.service.unsubscribers.list({});
  expect(unsubscribers.map(({ user_email }) => user_email)).toEqual(["ann@shop.example"]);
});
