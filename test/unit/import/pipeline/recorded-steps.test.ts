import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ServiceError } from "../../../../src/contract/index.ts";
import type { ImportDeps } from "../../../../src/import/deps.ts";
import { resumeImport, startImport } from "../../../../src/import/import.ts";
import type { ImportOptions } from "../../../../src/import/options.ts";
import type { PlanDeps } from "../../../../src/import/plan/plan-types.ts";
import { planImport } from "../../../../src/import/plan/plan.ts";
import { undoImport } from "../../../../src/import/undo/undo.ts";
import type { UndoRequest } from "../../../../src/import/undo/undone-run.ts";
import { verifyImport, type VerifyRequest } from "../../../../src/import/verify/verify.ts";
import { openPipeline, type Pipeline } from "../../../support/pipeline.ts";
import { type Fates, RecordedSteps } from "../../../support/recorded-steps.ts";

let pipeline: Pipeline;
let record: RecordedSteps;
beforeEach(async () => {
  pipeline = await openPipeline();
  record = new RecordedSteps(pipeline);
});
afterEach(() => pipeline[Symbol.asyncDispose]());

type Files = Readonly<Record<string, string>>;
interface Circumstances {
  readonly fates?: Fates;
  readonly deps?: Partial<ImportDeps>;
}

function requestOf(kind: string, files: Files, options: Partial<ImportOptions>) {
  for (const [name, content] of Object.entries(files)) pipeline.write(name, content);
  return { kind, files: Object.keys(files), options: { dryRun: false, map: {}, ...options } };
}

const run = (kind: string, files: Files, options: Partial<ImportOptions> = {}, { fates, deps }: Circumstances = {}) =>
  record.step("import", startImport(requestOf(kind, files, options), record.deps(fates, deps)));

const resume = (id: string, options: Partial<ImportOptions> = {}, { fates, deps }: Circumstances = {}) =>
  record.step("resume", resumeImport(id, options, record.deps(fates, deps)));

const undo = (id: string, request: Partial<UndoRequest> = {}, { fates, deps }: Circumstances = {}) => {
  const complete: UndoRequest = {
    isPlan: false,
    maxListed: 3,
    listsExceptions: false,
    confirm: async (counts) => record.note(counts),
    ...request,
  };
  return record.step("undo", undoImport(id, complete, record.deps(fates, deps)));
};

const verify = (id: string, request: Partial<VerifyRequest> = {}, { fates, deps }: Circumstances = {}) =>
  record.step("verify", verifyImport(id, { maxListed: 3, ...request }, record.deps(fates, deps)));

async function plan(
  kind: string,
  files: Files,
  { out, ...options }: Partial<ImportOptions> & { out?: string } = {},
  { fates, deps, ...rehearsed }: Circumstances & { ratePerSecond?: number; notKnown?: readonly string[] } = {},
) {
  const { openService, ...others } = record.deps(fates, deps);
  const planDeps: PlanDeps = {
    ...others,
    openRehearsal: async ({ signal: _signal, ...pace }) => ({
      ...(await openService(pace)),
      ratePerSecond: undefined,
      notKnown: [],
      ...rehearsed,
    }),
  };
  await record.step("plan", planImport({ ...requestOf(kind, files, options), out }, planDeps) as Promise<object>);
}

/** Compares the record with the snapshot; `vitest --update` writes it after an intended change. */
function expectRecorded(...names: readonly string[]) {
  record.files(...names);
  expect(String(record)).toMatchSnapshot();
}

const product = (id: string, name: string, more = "") => `${id},${name},https://shop.example/${id.trim()}${more}\n`;
const products = (...lines: readonly string[]) => `product_id,name,url,description,price\n${lines.join("")}`;
const order = (id: string, product_id: string, name = "Ann", date = "2026-03-01") =>
  `${id},${date},${name},${name}@mail.example,${product_id},${product_id},https://shop.example/${product_id},10\n`;
const orders = (...lines: readonly string[]) =>
  `order_id,order_date,customer_name,email,product_id,product_name,product_url,product_price\n${lines.join("")}`;
const codes = (...lines: readonly string[]) => `code\n${lines.join("\n")}\n`;

const three = products(product("p1", "Cup", ",Blue,1"), product("p2", "Mug", ",,"), product("p3", "Pot", ",,3"));
const down = new ServiceError("unavailable", "nothing answers");
const lost = new ServiceError("timeout", "no response", { outcomeUnknown: true });
const refused = new ServiceError("invalidParams", "no");
const denied = new ServiceError("unauthorized", "who is that?");

describe("imports", () => {
  test("several files with rejects, rewritten IDs, and small calls", async () => {
    const rest = products(product("p 4", "Jar", ",,"), product("p5", "", ",,"), product("p6", "Jug", ",,x"));
    const files = { "a.csv": three, "b.csv": rest.replaceAll(",", ";") };
    await run("products", files, { batchSize: 2, fixIds: true, rejects: "rejects.csv", rate: 3, rateShare: 0.5 });
    expectRecorded("rejects.csv");
  });

  test("a failing service, then a resume that continues and verifies", async () => {
    const options = { batchSize: 1, verify: true };
    const first = await run("products", { "a.csv": three }, options, {
      fates: { "products.massCreate": [undefined, { fails: down }] },
    });
    await resume(first, { rate: 2 }, { fates: { "products.massCreate": [{ fails: denied }] } });
    await resume(first.slice(0, -2), { concurrency: 1 });
    await resume(first);
    expectRecorded();
  });

  test("a rejected sign-in leaves no run if nothing was sent", async () => {
    await run("products", { "a.csv": three }, {}, { fates: { "products.massCreate": [{ fails: denied }] } });
    await run(
      "coupons",
      { "a.csv": codes("AB-1") },
      { action: "map_review" },
      { fates: { "coupons.list": [{ fails: new ServiceError("invalidClient", "no", { hint: "sign in" }) }] } },
    );
    expectRecorded();
  });

  test("waits, retries, and limits are counted", async () => {
    const wait = (reason: "pace" | "throttled" | "retry", ms: number, mayBeDone = false) =>
      ({ type: "wait", reason, ms, message: "wait 1", mayBeDone }) as const;
    const attempt = (number: number) => ({ type: "attempt", attempt: number }) as const;
    const events = [attempt(1), wait("throttled", 700), attempt(2), wait("retry", 50, true), attempt(3)];
    await run(
      "products",
      { "a.csv": three },
      { batchSize: 1 },
      {
        fates: { "products.massCreate": [{ events: [wait("pace", 100)] }, { events }, { events: [wait("pace", 20)] }] },
      },
    );
    expectRecorded();
  });

  test("codes whose call is not answered are read back", async () => {
    const options = { action: "map_review", batchSize: 2 };
    const fates = { "coupons.upload": [undefined, { fails: lost, isDone: true }, { fails: lost }] };
    await run("coupons", { "a.csv": codes("AB-1", "AB-2", "AB-3", "AB-4", "AB-5") }, options, { fates });
    await run("coupons", { "b.csv": codes("AB-1", "AB-6", "x") }, options);
    expectRecorded();
  });

  test("codes of an aborted run are sent once", async () => {
    const abort = new AbortController();
    const options = { action: "map_review", batchSize: 1 };
    const fates = { "coupons.upload": [undefined, { before: () => abort.abort() }] };
    const file = { "a.csv": codes("AB-1", "AB-2", "AB-3") };
    const first = await run("coupons", file, options, { fates, deps: { abort: abort.signal } });
    await resume(first);
    expectRecorded();
  });

  test("invalid items are found in parts", async () => {
    const fates = { "products.massCreate": [{ fails: refused }, undefined, { fails: refused }] };
    await run("products", { "a.csv": three }, {}, { fates });
    expectRecorded();
  });

  test("a call that is too large is divided, and so is each later one", async () => {
    const large = new ServiceError("bodyTooLarge", "too large");
    const rows = Array.from({ length: 7 }, (_, at) => product(`p${at}`, "Cup", ",,"));
    const first = await run(
      "products",
      { "a.csv": products(...rows) },
      { batchSize: 4 },
      { fates: { "products.massCreate": [{ fails: large }, undefined, undefined, { fails: down }] } },
    );
    await resume(first);
    expectRecorded();
  });

  test("too many errors stop the run, which a resume can allow", async () => {
    const rows = [product("", "Cup", ",,"), product("p1", "Cup", ",,"), product("p2", "", ",,"), ",,,,\n"];
    const first = await run("products", { "a.csv": products(...rows) }, { batchSize: 1, maxErrors: { count: 0 } });
    await run("products", { "a.csv": products(...rows) });
    await resume(first, { maxErrors: { percent: 100 } });
    expectRecorded();
  });

  test("a signal interrupts, and a resume continues", async () => {
    const stop = new AbortController();
    const fates = { "products.massCreate": [{ before: () => stop.abort() }] };
    const first = await run("products", { "a.csv": three }, { batchSize: 1 }, { fates, deps: { stop: stop.signal } });
    await run("products", { "a.csv": three }, { batchSize: 1 });
    await resume(first, {}, { deps: { target: "elsewhere" } });
    await resume(first);
    expectRecorded();
  });

  test("a dry run", async () => {
    await run(
      "products",
      { "a.csv": three, "b.csv": products(product("p 1", "", ",,")) },
      { dryRun: true, fixIds: true, verify: true },
    );
    expectRecorded();
  });

  test("a full disk", async () => {
    const full = Object.assign(new Error("no space"), { code: "ENOSPC" });
    const openService = () => Promise.reject(full);
    await run("products", { "a.csv": three }, {}, { deps: { openService } });
    const report = () => {
      throw full;
    };
    await run("products", { "a.csv": three }, { dryRun: true }, { deps: { report } });
    expectRecorded();
  });
});

describe("undo", () => {
  const changed = products(
    product("p1", "Large cup", ",Green,1"),
    product("p2", "Mug", ",Small,"),
    product("p3", "Large pot", ",,4"),
    product("p4", "Jar", ",,"),
    product("p5", "", ",,"),
  );
  /** Imports products, then changes them. */
  const change = async (options: Partial<ImportOptions> = { undoable: true }) => {
    await run("products", { "a.csv": three });
    return run("products", { "b.csv": changed }, options);
  };

  test("is planned, carried out, and done once", async () => {
    const id = await change();
    await undo(id, { isPlan: true });
    await undo(id, { rate: 2, rateShare: 0.1 });
    await undo(id);
    await resume(id);
    await verify(id);
    expectRecorded();
  });

  test("lists exceptions only", async () => {
    await undo(await change(), { maxListed: 1, listsExceptions: true });
    expectRecorded();
  });

  test("is impossible if nothing was recorded", async () => {
    await undo(await change({}));
    expectRecorded();
  });

  test("is impossible if the service did not return the previous state", async () => {
    await run("products", { "a.csv": three });
    const fails = new ServiceError("featureDisabled", "not here");
    const fates = { "core.listProducts": [{ fails }] };
    await undo(await run("products", { "b.csv": changed }, { undoable: true }, { fates }));
    expectRecorded();
  });

  test("continues after a failure, and after a signal", async () => {
    const id = await change();
    const lostCall = { "products.massUpdate": [{ fails: lost, isDone: true }] };
    await undo(id, {}, { fates: lostCall });
    const stop = new AbortController();
    const reading = { "core.listProducts": [{ before: () => stop.abort() }] };
    await undo(id, {}, { fates: reading, deps: { stop: stop.signal } });
    await undo(id, { isPlan: true });
    await undo(id);
    expectRecorded();
  });

  test("ends with a signal while it sends", async () => {
    const id = await change();
    const stop = new AbortController();
    const sending = { "products.massUpdate": [{ before: () => stop.abort() }] };
    await undo(id, {}, { fates: sending, deps: { stop: stop.signal } });
    await undo(id);
    expectRecorded();
  });

  test("of an incomplete run prevents its resumption once it has begun", async () => {
    const id = await change({ undoable: true, maxErrors: { count: 0 } });
    const stop = new AbortController();
    const sending = { "products.massUpdate": [{ before: () => stop.abort() }] };
    await undo(id, {}, { fates: sending, deps: { stop: stop.signal } });
    await resume(id, { maxErrors: { count: 9 } });
    expectRecorded();
  });

  test("looks again after a slow answer, and keeps what has changed", async () => {
    const id = await change();
    await undo(id, {
      confirm: async (counts) => {
        record.note(counts);
        pipeline.harness.clock.advance(6_000);
        await pipeline.service.products.massUpdate({ products: { p1: { name: "Huge cup" } } });
      },
    });
    expectRecorded();
  });

  test("a refused call is sent in smaller calls", async () => {
    const id = await change();
    await undo(id, {}, { fates: { "products.massUpdate": [{ fails: refused }] } });
    expectRecorded();
  });

  test("cancels the emails of orders, and keeps earlier ones", async () => {
    await run("orders", { "a.csv": orders(order("o1", "p1")) });
    pipeline.harness.clock.advance(3_600_000);
    const id = await run("orders", { "b.csv": orders(order("o1", "p2"), order("o2", "p1"), order("o3", "p1")) });
    await undo(id);
    expectRecorded();
  });

  test("a run of which nothing was sent", async () => {
    const id = await run(
      "products",
      { "a.csv": three },
      { undoable: true },
      { fates: { "products.massCreate": [{ fails: down }] } },
    );
    await undo(id);
    await undo(id.slice(0, 4), {}, { deps: { target: "elsewhere" } });
    expectRecorded();
  });

  test("codes cannot be undone completely", async () => {
    const id = await run("coupons", { "a.csv": codes("AB-1", "AB-2") }, { action: "map_review" });
    await undo(id);
    expectRecorded();
  });
});

describe("verification", () => {
  test("finds missing and different rows, also among older records", async () => {
    const file = orders(
      order("o1", "p1"),
      order("o1", "p1"),
      order("o2", "p2"),
      order("o3", "p3", "Bo"),
      order("", "p1"),
    );
    const id = await run("orders", { "a.csv": file });
    await verify(id, { rate: 1, rateShare: 0.2 });
    const { db } = pipeline.harness.database;
    const second = db.selectFrom("orders").select("id").where("order_id", "=", "o2");
    await db.deleteFrom("purchases").where("order_row", "=", second).execute();
    const [first] = await db.selectFrom("purchases").selectAll().execute();
    await db
      .deleteFrom("purchases")
      .where("id", "=", first?.id ?? 0)
      .execute();
    await db.updateTable("orders").set({ customer_name: "Eve" }).where("order_id", "=", "o3").execute();
    await verify(id, { missing: "missing.csv" });
    await verify(id, { maxListed: 1, missing: "a.csv" });
    await verify(id, { maxListed: 1 });
    expectRecorded("missing.csv");
  });

  test("writes all rows of an order whose rows are only valid together", async () => {
    const header = "Name,Email,Created at,Lineitem quantity,Lineitem name,Lineitem price,Lineitem sku,Billing Name\n";
    const first = "#1,ann@mail.example,2026-03-01 10:00:00 +0100,1,Cup,5,C-1,Ann\n";
    const rows = `${first}#1,,,2,Mug,6,M-1,\n#2,bo@mail.example,2026-03-01 10:00:00 +0100,1,Cup,5,C-1,Bo\n`;
    const id = await run("orders", { "a.csv": header + rows }, { productUrl: "https://shop.example/{product_id}" });
    const { db } = pipeline.harness.database;
    const [, last] = await db.selectFrom("purchases").select("id").orderBy("id").execute();
    await db
      .deleteFrom("purchases")
      .where("id", "=", last?.id ?? 0)
      .execute();
    await verify(id);
    expectRecorded();
  });

  test("of an interrupted run, and one that a signal ends", async () => {
    const id = await run(
      "products",
      { "a.csv": three },
      { batchSize: 1 },
      { fates: { "products.massCreate": [undefined, { fails: down }] } },
    );
    await verify(id);
    const stop = new AbortController();
    const fates = { "core.listProducts": [{ before: () => stop.abort() }] };
    await verify(id, {}, { fates, deps: { stop: stop.signal } });
    await verify(id, {}, { fates: { "core.listProducts": [{ fails: down }] } });
    expectRecorded();
  });

  test("fails at the end of a run, which is kept", async () => {
    const fates = { "core.listProducts": [{ fails: denied }] };
    const id = await run("products", { "a.csv": three }, { verify: true }, { fates });
    await resume(id);
    await resume(id);
    expectRecorded();
  });

  test("of a kind that the service does not list", async () => {
    const id = await run("groups", { "a.csv": "group,product_id\nG,p1\n" });
    await verify(id);
    expectRecorded();
  });

  test("of removed addresses, and of codes", async () => {
    const emails = { "a.csv": "email\nann@shop.example\nbo@shop.example\n" };
    await run("unsubscribers", emails, { emailType: "1", verify: true });
    const id = await run("coupons", { "b.csv": codes("AB-1", "AB-2", "AB-1") }, { action: "map_review", verify: true });
    await pipeline.harness.database.db.deleteFrom("coupons").where("code", "=", "AB-2").execute();
    await verify(id);
    expectRecorded();
  });
});

describe("plans", () => {
  test("of products, some of which are stored", async () => {
    await run("products", { "a.csv": three });
    const file = products(
      product("P1", "Cup", ",,"),
      product("p2", "Large mug", ",,"),
      product("p2", "Mug", ",,"),
      product("p3", "Pot", ",,3"),
      product("p9", "", ",,"),
      product("p3", "Pot", ",,3"),
    );
    const options = { out: "plan.json", rejects: "rejects.csv", empty: "clear" as const, update: true };
    await plan("products", { "b.csv": file }, options, { ratePerSecond: 2, notKnown: ["reviews"] });
    expectRecorded("plan.json", "rejects.csv");
  });

  test("of orders, with rewritten IDs and emails", async () => {
    await run("orders", { "a.csv": orders(order("o1", "p1")) });
    const file = orders(order("o1", "p1"), order("O1", "p 2"), order("o2", "p1"), order("o2", "p1"), order("o4", ""));
    await plan(
      "orders",
      { "b.csv": file },
      { fixIds: true, sendMail: true, batchSize: 1, verify: true, undoable: true },
      { ratePerSecond: 3 },
    );
    expectRecorded();
  });

  test("of a shop's export, whose IDs are rewritten or marked", async () => {
    await run("orders", { "a.csv": orders(order("1001", "C-1"), order("o=2", "M-1")) }, { fixIds: true });
    const header = "Name,Email,Created at,Lineitem quantity,Lineitem name,Lineitem price,Lineitem sku,Billing Name\n";
    const line = (name: string, sku: string) =>
      `${name},ann@mail.example,2026-03-01 10:00:00 +0100,1,Cup,5,${sku},Ann\n`;
    const rows = [
      line("#1001", "C-1"),
      line("01001", "c-1"),
      line("#1002", "'=M 1"),
      line("#1003", "M 1"),
      line("#1003", "M-1"),
    ];
    const options = { fixIds: true, productUrl: "https://shop.example/{product_id}" };
    await plan("orders", { "b.csv": header + rows.join("") }, options);
    expectRecorded();
  });

  test("of other kinds", async () => {
    await run("coupons", { "a.csv": codes("AB-1") }, { action: "map_review" });
    await plan("coupons", { "b.csv": codes("AB-1", "AB-2", "ab-2", "AB-2") }, { action: "map_review" });
    await plan("groups", { "c.csv": "group,product_id\nG,p1\ng,p1\nG,p1\n" });
    await plan("unsubscribers", { "d.csv": "email\nann@shop.example\nANN@shop.example\n" }, { emailType: "1" });
    expectRecorded();
  });

  test("that fail or are interrupted", async () => {
    await plan("products", { "a.csv": three }, {}, { fates: { "products.massCreate": [{ fails: down }] } });
    await plan("products", { "a.csv": three }, {}, { fates: { "core.listProducts": [{ fails: denied }] } });
    const stop = new AbortController();
    const fates = { "products.massCreate": [{ before: () => stop.abort() }] };
    await plan(
      "products",
      { "a.csv": three },
      { batchSize: 1, out: "plan.json" },
      { fates, deps: { stop: stop.signal } },
    );
    const early = new AbortController();
    const opening = { "core.listProducts": [{ before: () => early.abort() }] };
    await plan("products", { "a.csv": three }, {}, { fates: opening, deps: { stop: early.signal } });
    await plan("products", { "a.csv": three }, { maxErrors: { count: 0 }, layout: "none" });
    await plan("products", { "a.csv": three }, { out: join("none", "plan.json") });
    expectRecorded();
  });
});
