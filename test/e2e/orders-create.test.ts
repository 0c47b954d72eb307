import { afterAll, afterEach, expect, test } from "vitest";
import { type Loopback, sendJson, startLoopback } from "../support/loopback.ts";
import { type Home, Homes, remoteEnv } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());
const opened: Loopback[] = [];
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
});

const cup = { name: "Cup", url: "https://shop.example/cup" };

const order = (fields: Readonly<Record<string, unknown>> = {}) => ({
  platform: "general",
  order_id: "1001",
  order_date: "2026-01-31",
  email: "ann@mail.example",
  customer_name: "Ann",
  products: { cup },
  ...fields,
});

interface Created {
  readonly order_id: string;
  readonly outcome: string | null;
  readonly fields?: readonly string[];
  readonly dropped?: readonly { readonly field: string }[];
}

function create(home: Home, fields: Readonly<Record<string, unknown>>, ...flags: readonly string[]) {
  return home.json<Created>(["orders", "create", "--input", "-", ...flags], { input: JSON.stringify(order(fields)) });
}

async function purchases(home: Home) {
  const { data } = await home.json<readonly Record<string, unknown>[]>(["orders", "list", "--details"]);
  return data;
}

test.each([
  ["an impossible date", { order_date: "2026-02-30" }, 1],
  ["a date in the future", { order_date: "2999-01-31" }, 2],
  ["no products", { products: {} }, 2],
  ["an invalid product ID", { products: { "a b": cup } }, 2],
  ["an invalid product ID besides a valid one", { products: { cup, "a b": cup } }, 2],
  ["an invalid price", { products: { cup: { ...cup, price: "1,99" } } }, 1],
  ["an invalid address", { email: "nobody" }, 1],
])("fails and stores nothing for an order with %s", async (_, fields, status) => {
  const home = homes.open();
  await home.init();
  const { exitCode, stdout, stderr } = await create(home, fields);
  expect(exitCode).toBe(status);
  expect(stdout).toBe("");
  expect(JSON.parse(stderr)).toHaveProperty("error.message");
  expect(await purchases(home)).toEqual([]);
});

test("reports whether the order was created, changed, or unchanged", async () => {
  const home = homes.open();
  expect((await create(home, {})).data).toEqual({ order_id: "1001", outcome: "created" });
  expect(await create(home, {})).toMatchObject({ exitCode: 0, data: { outcome: "unchanged" } });
  const changed = await create(home, { customer_name: "Bea" });
  expect(changed).toMatchObject({ exitCode: 0, data: { outcome: "changed", fields: ["customer_name"] } });
  expect(await purchases(home)).toMatchObject([{ user_name: "Bea" }]);
});

test("uses the current day for an order without a date", async () => {
  const home = homes.open();
  const before = Date.now();
  expect((await create(home, { order_date: undefined })).exitCode).toBe(0);
  const days = [before, Date.now()].map((ms) => `${new Date(ms).toISOString().slice(0, 10)}T00:00:00.000Z`);
  expect(days).toContain((await purchases(home))[0]?.["order_date"]);
});

test.each([
  ["--no-validate", { fields: {}, flags: ["--no-validate"] }],
  ["validate_data: false in the input", { fields: { validate_data: false }, flags: [] }],
])("with %s, stores what is valid and reports the rest", async (_, { fields, flags }) => {
  const home = homes.open();
  const products = { cup: { ...cup, price: "1,99" }, "a b": cup };
  const { exitCode, data } = await create(home, { products, ...fields }, ...flags);
  expect(exitCode).toBe(3);
  expect(data.outcome).toBe("created");
  expect(data.dropped?.map(({ field }) => field)).toEqual(["products.cup.price", "products.a b"]);
  expect(await purchases(home)).toMatchObject([{ product_sku: "cup", product_price: null }]);
});

test.each([
  ["an impossible date", { order_date: "2026-02-30" }],
  ["only invalid product IDs", { products: { "a b": cup } }],
  ["another customer's order ID", { email: "zoe@mail.example", order_id: "1" }],
])("with --no-validate, fails for an order with %s", async (_, fields) => {
  const home = homes.open();
  await create(home, { order_id: "1" });
  expect(await create(home, fields, "--no-validate")).toMatchObject({ exitCode: 1, stdout: "" });
  expect(await purchases(home)).toMatchObject([{ order_id: "1", user_email: "ann@mail.example" }]);
});

test("reports no outcome if the service does not", async () => {
  const sent: unknown[] = [];
  const service: Loopback = await startLoopback((response, at) => {
    const { url, body } = service.received[at] ?? { url: "", body: "" };
    if (url === "/oauth/token") return sendJson(response, 200, { access_token: "t", token_type: "bearer" });
    sent.push(JSON.parse(body));
    return sendJson(response, 200, { code: 200, message: "OK" });
  });
  opened.push(service);
  const home = homes.open(remoteEnv({ url: service.url, app_key: "key", secret: "secret" }));
  expect(await create(home, {})).toMatchObject({ exitCode: 0, data: { order_id: "1001", outcome: null } });
  expect(sent).toEqual([expect.objectContaining({ validate_data: true, order_id: "1001" })]);
});
