import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { type Loopback, sendJson, startLoopback } from "../support/loopback.ts";
import { type Home, Homes, noticesOf, remoteEnv, type Summary } from "../support/starpost.ts";
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
    expect(noticesOf({ stderr })).toMatch(/2 rows: .*order is odd \(.*orders\.csv:9\)$/m);
    expect(sizes.length).toBeLessThanOrEqual(2 + 2 * 2 * 8);
    expect(summary.calls.sent).toBe(sizes.length);
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
