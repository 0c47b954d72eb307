import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { type Loopback, sendJson, startLoopback } from "../support/loopback.ts";
import { type Home, Homes, remoteEnv, type Summary } from "../support/starpost.ts";
import { countRows } from "../support/row-counts.ts";
import { shortenRetryDelays } from "../support/retry-delays.ts";

const homes = new Homes();
afterAll(() => homes.remove());
const opened: Loopback[] = [];
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
});

interface SentOrder {
  readonly order_id: string;
}

type Answer = { readonly status: number; readonly body: unknown };

/** A service that issues tokens, lists nothing, and answers order calls with the handler; records the number of orders per call. */
async function startService(answer: (orders: readonly SentOrder[]) => Answer) {
  const sizes: number[] = [];
  const service: Loopback = await startLoopback((response, at) => {
    const { url, method, body } = service.received[at] ?? { url: "", method: "", body: "" };
    if (url === "/oauth/token") return sendJson(response, 200, { access_token: "t", token_type: "bearer" });
    if (method === "GET") {
      const status = { code: 200, message: "OK" };
      return sendJson(response, 200, { status, response: { purchases: [], total_purchases: 0 } });
    }
    const { orders } = JSON.parse(body) as { orders: SentOrder[] };
    sizes.push(orders.length);
    const { status, body: answered } = answer(orders);
    if (typeof answered !== "string") return sendJson(response, status, answered);
    return response.writeHead(status, { "content-type": "text/html" }).end(answered);
  });
  opened.push(service);
  const home = homes.open(remoteEnv({ url: service.url, app_key: "key", secret: "secret" }));
  return { home, sizes };
}

const taken: Answer = { status: 200, body: { code: 200, message: "OK", uuid: "u" } };
const refusal = (message: string, error_type: string): Answer => ({
  status: 500,
  body: { status: { message, code: 500, error_type } },
});

function writeOrders(home: Home, rows: readonly string[]): string {
  const path = join(home.folder, "orders.csv");
  const header = "order_id,order_date,customer_name,email,product_id,product_name,product_url";
  writeFileSync(path, `${header}\n${rows.join("\n")}\n`);
  return path;
}

const rowOf = (order: string, product = "p-1") =>
  `${order},2026-01-02,N,n@example.com,${product},Name,https://shop.example/p`;
const manyRows = (count: number) => Array.from({ length: count }, (_, at) => rowOf(`o-${at}`));

async function importOrders(home: Home, path: string, more: readonly string[] = []) {
  const result = await home.run(["orders", "import", path, "--rate", "0", "--json", ...more]);
  const summary = JSON.parse(result.stdout) as Summary;
  const rejects =
    summary.rejects_file === null
      ? []
      : parse<Record<string, string>>(readFileSync(summary.rejects_file), { columns: true });
  return { ...result, summary, rejects };
}

describe("a rejected call", () => {
  shortenRetryDelays();

  test("finds and rejects the invalid orders, and imports the others", async () => {
    const invalid = new Set(["o-7", "o-150"]);
    const { home, sizes } = await startService((orders) =>
      orders.some(({ order_id }) => invalid.has(order_id))
        ? refusal("order is odd", "Exceptions::InvalidParams")
        : taken,
    );
    const { exitCode, summary, rejects, stderr } = await importOrders(home, writeOrders(home, manyRows(400)));
    expect(exitCode).toBe(3);
    expect(summary.rows).toEqual({ read: 400, accepted: 398, rejected: 2, failed: 0 });
    expect(rejects.map((reject) => [reject["order_id"], reject["_line"], reject["_code"]])).toEqual([
      ["o-7", "9", "call_refused"],
      ["o-150", "152", "call_refused"],
    ]);
    expect(rejects[0]?.["_reason"]).toMatch(/: order is odd$/);
    expect(stderr).toMatch(/2 rows: .*order is odd \(.*orders\.csv:9\)$/m);
    expect(sizes.length).toBeLessThanOrEqual(2 + 2 * 2 * 8);
    expect(summary.calls.sent).toBe(sizes.length);
  });

  test("interrupts the run without rejecting rows if all calls fail, and can be resumed", async () => {
    let isDown = true;
    const { home } = await startService(() =>
      isDown ? refusal("internal error", "Exceptions::InternalError") : taken,
    );
    const path = writeOrders(home, manyRows(30));
    const { exitCode, summary, rejects } = await importOrders(home, path);
    expect(exitCode).toBe(5);
    expect([summary.state, summary.rows.read, rejects]).toEqual(["interrupted", 0, []]);
    isDown = false;
    const resumed = await home.json(["imports", "resume", summary.import_id]);
    expect(resumed.exitCode).toBe(0);
    expect(resumed.data.rows.accepted).toBe(30);
  });

  test("rejects a single order that always makes the service fail", async () => {
    const { home } = await startService((orders) =>
      orders.some(({ order_id }) => order_id === "o-19")
        ? refusal("internal error", "Exceptions::InternalError")
        : taken,
    );
    const { exitCode, rejects } = await importOrders(home, writeOrders(home, manyRows(20)));
    expect(exitCode).toBe(3);
    expect(rejects.map((reject) => [reject["_line"], reject["_code"]])).toEqual([["21", "call_failed"]]);
    expect(rejects[0]?.["_reason"]).toMatch(/this order .*; import it again later/);
  });

  test("fails after fifty individually rejected orders without a success, and can be resumed", async () => {
    const { home, sizes } = await startService(() => refusal("no such platform", "Exceptions::InvalidParams"));
    const { exitCode, summary, stderr } = await importOrders(home, writeOrders(home, manyRows(500)), [
      "--concurrency",
      "1",
    ]);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/refused 50 orders .*no such platform/);
    expect(summary.state).toBe("failed");
    expect(summary.rows).toEqual({ read: 0, accepted: 0, rejected: 0, failed: 0 });
    expect(sizes.length).toBeLessThan(120);
  });
});

describe("calls that are too large", () => {
  test("halves the batch size for the rest of the run after a 413 page of a proxy, and reports it once", async () => {
    const { home, sizes } = await startService((orders) =>
      orders.length > 60 ? { status: 413, body: "<html>413 Request Entity Too Large</html>" } : taken,
    );
    const args = ["--concurrency", "1"];
    const { exitCode, summary, stderr } = await importOrders(home, writeOrders(home, manyRows(600)), args);
    expect(exitCode).toBe(0);
    expect(summary.rows.accepted).toBe(600);
    expect(sizes).toEqual([200, 100, ...Array.from({ length: 12 }, () => 50)]);
    expect(stderr.match(/calls are too large for the service/g)).toHaveLength(1);
    expect(stderr).toMatch(/at most 50 orders/);
  });

  test("adapts to a server that accepts only small bodies", async () => {
    const far = homes.open();
    const server = await far.serve(["--quiet", "--chaos", "max-body=9000"]);
    const home = homes.open(remoteEnv(server));
    const { exitCode, summary } = await importOrders(home, writeOrders(home, manyRows(300)));
    expect(await server.stop()).toBe(0);
    expect([exitCode, summary.rows.accepted]).toEqual([0, 300]);
    expect(countRows(far.folder)).toMatchObject({ orders: 300, orderIds: 300, purchases: 300 });
  });
});

describe("an error about an order", () => {
  test("is mapped to its cell; the other rows of the order name the invalid line", async () => {
    const { home } = await startService(() => ({
      status: 200,
      body: {
        code: 200,
        message: "OK",
        uuid: "u",
        errors: [
          { order_num: 1, order_id: "o-2", field: "products.p-2.url", error: "is not a URL of ours" },
          { order_num: 2, order_id: "o-3", field: "email", error: "Email is invalid" },
        ],
      },
    }));
    const rows = [rowOf("o-1"), rowOf("o-2"), rowOf("o-2", "p-2"), rowOf("o-3").replace("n@", "odd@")];
    const { exitCode, rejects, stderr } = await importOrders(home, writeOrders(home, rows));
    expect(exitCode).toBe(3);
    const found = rejects.map((reject) => ["_line", "_column", "_code"].map((name) => reject[name]));
    expect(found).toEqual([
      ["3", "", "order_incomplete"],
      ["4", "product_url", "bad_url"],
      ["5", "email", "bad_email"],
    ]);
    expect(rejects[0]?.["_reason"]).toContain("line 4");
    expect(stderr).toMatch(/1 row: email .*orders\.csv:5: "odd@example\.com"\)/);
  });

  test("is counted per reason, most frequent first", async () => {
    const home = homes.open();
    const bad = (at: number) => rowOf(`b-${at}`).replace("n@example.com", "foo");
    const rows = [rowOf("o-1"), rowOf("o-2").replace("2026-01-02", "soon"), bad(1), bad(2), bad(3)];
    const { stderr } = await importOrders(home, writeOrders(home, rows));
    const reasons = stderr.split("\n").filter((line) => /^ {2}(?:rejected)? +\d+ rows?: /.test(line));
    expect(reasons[0]).toMatch(/3 rows: email .*orders\.csv:4: "foo"\)/);
    expect(reasons[1]).toMatch(/1 row: order_date .*orders\.csv:3: "soon"\)/);
  });
});
