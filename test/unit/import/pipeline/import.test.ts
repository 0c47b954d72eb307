import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { maxLength } from "../../../../src/contract/index.ts";
import { listImports, showImport, startImport } from "../../../../src/import/import.ts";
import type { ImportEvent } from "../../../../src/import/events.ts";
import { findRun, writeManifest } from "../../../../src/import/run/run-folder.ts";
import { openPipeline, type Pipeline } from "../../../support/pipeline.ts";

let pipeline: Pipeline;
beforeEach(async () => {
  pipeline = await openPipeline();
});
afterEach(() => pipeline[Symbol.asyncDispose]());

const products = "product_id,name,url\np1,Teapot,https://shop.example/p1\np2,Cup,https://shop.example/p2\n";

test("records a run with its counts, and lists it", async () => {
  const summary = await pipeline.run("products", products);
  expect(summary).toMatchObject({
    kind: "products",
    state: "finished",
    rows: { read: 2, accepted: 2, rejected: 0, failed: 0 },
    items: { sent: 2, accepted: 2, rejected: 0 },
    calls: { sent: 1, retried: 0, throttled: 0 },
    rejects_file: null,
  });
  const { runsFolder } = pipeline.deps();
  expect(await listImports(runsFolder)).toEqual([summary]);
  expect(await showImport(runsFolder, summary.import_id ?? "")).toEqual(summary);
});

test("does not suggest to resume a complete run if closing the connection fails", async () => {
  const close = () => Promise.reject(Object.assign(new Error("full"), { code: "ENOSPC" }));
  const openService = async () => ({ service: pipeline.service, concurrency: 1, keepsOrder: true, close });
  const error = await pipeline.run("products", products, {}, { openService }).catch((found: unknown) => found);
  const { summary, hint } = error as { summary: { import_id: string }; hint: string };
  expect(error).toMatchObject({ kind: "failed", summary: { state: "finished", rows: { accepted: 2 } } });
  expect(hint).toContain(`${summary.import_id} is complete`);
  expect(hint).not.toContain("resume");
});

test("a dry run records and sends nothing", async () => {
  const summary = await pipeline.run("products", products, { dryRun: true });
  expect(summary).toMatchObject({ import_id: null, state: "finished", rows: { read: 2, accepted: 2 } });
  expect(existsSync(pipeline.deps().runsFolder)).toBe(false);
  expect((await pipeline.service.core.listProducts({})).products).toEqual([]);
});

test("rejects invalid rows into a file that can be corrected", async () => {
  const rejects = join(pipeline.folder, "rejects.csv");
  const summary = await pipeline.run("products", `${products}p3,,https://shop.example/p3\n`, { rejects });
  expect(summary).toMatchObject({ rows: { read: 3, accepted: 2, rejected: 1 }, rejects_file: rejects });
  expect(pipeline.read("rejects.csv")).toMatch(
    /^product_id,name,url,_line,_column,_code,_reason\r?\np3,,\S+,4,name,missing,/,
  );
});

test("notices that a file was imported before", async () => {
  const first = await pipeline.run("products", products);
  pipeline.harness.clock.advance(1_000);
  await pipeline.run("products", products);
  expect(pipeline.notices().some((message) => message.includes(String(first.import_id)))).toBe(true);
});

test("does not keep a run that was stopped before it began", async () => {
  const summary = await pipeline.run("products", products, {}, { stop: AbortSignal.abort() });
  expect(summary).toMatchObject({ import_id: null, state: "interrupted", rows: { read: 0 } });
  expect(readdirSync(pipeline.deps().runsFolder)).toEqual([]);
});

test("does not read an incomplete pipe, or report what is wrong with a file after the second signal", async () => {
  const request = (file: string) => ({ kind: "products", files: [file], options: { dryRun: false, map: {} } });
  const none = { import_id: null, state: "interrupted", started_at: "2026-03-15T12:00:00.000Z", duration_ms: 0 };
  const piped = startImport(request("-"), pipeline.deps({ stop: AbortSignal.abort() }));
  expect(await piped).toMatchObject({ ...none, kind: "products", files: ["-"], rejects_file: null });
  pipeline.write("empty.csv", "");
  const aborted = startImport(request("empty.csv"), pipeline.deps({ abort: AbortSignal.abort() }));
  expect(await aborted).toMatchObject({ ...none, files: ["empty.csv"] });
  await expect(startImport(request("empty.csv"), pipeline.deps())).rejects.toMatchObject({ kind: "usage" });
  expect(readdirSync(pipeline.deps().runsFolder)).toEqual([]);
});

test("names an unknown run together with the known ones", async () => {
  const { import_id } = await pipeline.run("products", products);
  const { runsFolder } = pipeline.deps();
  const error = await showImport(runsFolder, "x").catch((found: unknown) => found);
  expect(error).toMatchObject({ kind: "failed", misnamed: { given: "x", known: [import_id] }, summary: undefined });
  await expect(showImport(runsFolder, "")).rejects.toMatchObject({ kind: "failed" });
  expect(await showImport(runsFolder, import_id?.slice(0, 4) ?? "")).toMatchObject({ import_id });
  pipeline.harness.clock.advance(1_000);
  await pipeline.run("products", products);
  await expect(showImport(runsFolder, "2026")).rejects.toMatchObject({ kind: "usage", misnamed: undefined });
});

test("limits --batch-size to what the service accepts", async () => {
  const running = pipeline.run("coupons", "code\nA\n", { batchSize: 1_000_000, action: "map_review" });
  await expect(running).rejects.toMatchObject({ kind: "usage" });
});

test("records the size of large calls, unless a flag sets the size", async () => {
  const rows = Array.from({ length: 501 }, (_, at) => `p${at},Cup ${at},https://shop.example/p${at}\n`).join("");
  const run = async (options: { batchSize?: number }, prefersLargeCalls: boolean) => {
    const file = `product_id,name,url\n${rows}`;
    const { calls, import_id } = await pipeline.run("products", file, options, { prefersLargeCalls });
    pipeline.harness.clock.advance(1_000);
    return [calls.sent, findRun(pipeline.deps().runsFolder, import_id ?? "").options.batchSize];
  };
  expect(await run({}, true)).toEqual([2, 500]);
  expect(await run({}, false)).toEqual([3, undefined]);
  expect(await run({ batchSize: 100 }, true)).toEqual([6, 100]);
});

test("rejects a review that is longer than the service accepts before sending it", async () => {
  const row = (email: string, length: number) =>
    `2026-01-31,pot,Ann,${email},Good,${"a".repeat(length)},5,true,https://shop.example/pot\n`;
  const header = "date,product_id,display_name,email,review_title,review_content,review_score,published,product_url\n";
  const file = header + row("ann@mail.example", maxLength.content) + row("ben@mail.example", maxLength.content + 1);
  const { rows, rejects_file } = await pipeline.run("reviews", file);
  expect(rows).toMatchObject({ read: 2, accepted: 1, rejected: 1 });
  expect(readFileSync(rejects_file ?? "", "utf8")).toMatch(/,review_content,too_long,[^,]*10000 characters/);
});

describe("the end of a run", () => {
  const withErrors = (count: number, total = 4) =>
    `product_id,name,url\n${Array.from({ length: total }, (_, at) => `p${at},${at < count ? "" : "Cup"},https://shop.example/p\n`).join("")}`;
  const [finished, stopped] = ["finished", "stopped"];

  test.each([
    [0, { count: 0 }, finished],
    [1, { count: 0 }, stopped],
    [2, { count: 2 }, finished],
    [3, { count: 2 }, stopped],
    [2, { percent: 50 }, finished],
    [3, { percent: 50 }, stopped],
    [4, { percent: 100 }, finished],
    [4, undefined, finished],
  ])("with %i invalid rows of 4 and the limit %j is %s", async (count, maxErrors, state) => {
    const summary = await pipeline.run("products", withErrors(count), { maxErrors, batchSize: 1 });
    expect(summary).toMatchObject({ state, rows: { rejected: count } });
  });

  test("skips blank rows, whose number is reported", async () => {
    const { rows } = await pipeline.run("products", `${products},,\n , ,\n`);
    expect(rows).toMatchObject({ read: 2, accepted: 2 });
    expect(pipeline.notices().filter((message) => message.includes(" 2 empty rows"))).toHaveLength(1);
    await pipeline.run("products", `${withErrors(0)},,\n`);
    expect(pipeline.notices().filter((message) => message.includes(" 1 empty row"))).toHaveLength(1);
  });

  test("reports progress ten times a second, and at the end", async () => {
    const seen: (readonly [ms: number, read: number, total: number | undefined, isReplay: boolean])[] = [];
    const { clock } = pipeline.harness;
    const startedMs = clock();
    const report = (event: ImportEvent) => {
      if (event.type !== "progress") return;
      seen.push([clock() - startedMs, event.rows.read, event.rowsTotal, event.isReplay]);
    };
    const call = pipeline.service.products.massCreate;
    const massCreate: typeof call = async (...given) => {
      clock.advance(40);
      return call(...given);
    };
    const service = { ...pipeline.service, products: { ...pipeline.service.products, massCreate } };
    const openService = async () => ({ service, concurrency: 1, keepsOrder: true, close: async () => {} });
    const { import_id } = await pipeline.run("products", withErrors(0, 7), { batchSize: 1 }, { report, openService });
    expect(seen.at(-1)).toEqual([280, 7, 7, false]);
    const times = seen.slice(0, -1).map(([ms]) => ms);
    expect(times.length).toBeGreaterThan(1);
    expect(times.every((ms, at) => at === 0 || ms - (times[at - 1] ?? 0) >= 100)).toBe(true);
    expect(seen.every(([, , total, isReplay]) => total === 7 && !isReplay)).toBe(true);
    const run = findRun(pipeline.deps().runsFolder, import_id ?? "");
    await writeManifest(pipeline.deps().runsFolder, { ...run, state: "interrupted" });
    seen.length = 0;
    let state: string | undefined;
    const opened = async () => {
      ({ state } = findRun(pipeline.deps().runsFolder, import_id ?? ""));
      return openService();
    };
    await pipeline.resume(import_id ?? "", {}, { report, openService: opened });
    expect(seen.at(-1)).toEqual([280, 7, 7, true]);
    expect(state).toBe("running");
  });
});

describe("resume", () => {
  test("continues after the last settled call", async () => {
    const stop = new AbortController();
    const rows = Array.from({ length: 10 }, (_, at) => `p${at},Cup ${at},https://shop.example/p${at}\n`).join("");
    const stopAfterFirst = pipeline.deps().report;
    const interrupted = await pipeline.run(
      "products",
      `product_id,name,url\n${rows}`,
      { batchSize: 2 },
      {
        stop: stop.signal,
        report: (event) => {
          stopAfterFirst(event);
          if (event.type !== "notice") stop.abort();
        },
      },
    );
    expect(interrupted.state).toBe("interrupted");
    expect(interrupted.rows.accepted).toBeLessThan(10);
    const resumed = await pipeline.resume(interrupted.import_id ?? "");
    expect(resumed).toMatchObject({ state: "finished", rows: { read: 10, accepted: 10 }, calls: { sent: 5 } });
    expect((await pipeline.service.core.listProducts({ limit: 100 })).products).toHaveLength(10);
  });

  test("sends nothing for a finished run", async () => {
    const { import_id } = await pipeline.run("products", products);
    const resumed = await pipeline.resume(import_id ?? "");
    expect(resumed).toMatchObject({ state: "finished", calls: { sent: 1 } });
  });

  test("refuses a changed file, another target, and an unknown run", async () => {
    const { import_id } = await pipeline.run("products", `${products}p3,,x\np4,,x\n`, { maxErrors: { count: 0 } });
    await expect(pipeline.resume(import_id ?? "", {}, { target: "another" })).rejects.toMatchObject({ kind: "usage" });
    await expect(pipeline.resume("20000101-000000-zzzz")).rejects.toMatchObject({ kind: "failed" });
    pipeline.write("products.csv", `${products}p3,Bowl,https://shop.example/p3\n`);
    await expect(pipeline.resume(import_id ?? "")).rejects.toMatchObject({ kind: "usage" });
  });
});
