import { afterAll, beforeAll, expect, test } from "vitest";
import { run } from "../cli/support.ts";
import { type Home, Homes, remoteEnv } from "../support/starpost.ts";

const homes = new Homes();
let here: Home;
let elsewhere: Home;
let server: Awaited<ReturnType<Home["serve"]>>;

beforeAll(async () => {
  here = homes.open();
  await here.run(["orders", "import", "fixtures/good/orders.csv", "--quiet"]);
  // A server over the same database: both answer for the same account.
  server = await here.serve();
  elsewhere = homes.open(remoteEnv(server));
});
afterAll(async () => {
  await server.stop();
  homes.remove();
});

test.each([
  ["GET", "/apps/{app_key}/purchases", "--field", "count=3"],
  ["GET", "apps/{app_key}/purchases?count=2", "--paginate"],
  ["GET", "/apps/{app_key}/purchases", "--paginate", "--limit", "3", "--format", "csv"],
  ["GET", "/core/v3/stores/{store_id}/products?limit=2"],
  ["GET", "/core/v3/stores/{store_id}/products", "--paginate", "--format", "ndjson"],
  ["GET", "/apps/{app_key}/top_reviews.html", "--json"],
  ["GET", "/v1/apps/{app_key}/products_groups/None"],
  ["GET", "/healthz", "--no-auth"],
  ["GET", "/nowhere"],
  ["GET", "/apps/{app_key}/purchases", "--no-auth"],
  ["PATCH", "/apps/{app_key}/purchases"],
  ["HEAD", "/apps/{app_key}/purchases"],
  ["POST", "/v1/apps/{app_key}/products_groups"],
])("prints the same here and elsewhere: %s %s %s", async (...argv) => {
  const local = await run(["api", ...argv], { env: here.env });
  const remote = await run(["api", ...argv], { env: elsewhere.env });
  expect(remote.stdout).toBe(local.stdout);
  expect(remote.status).toBe(local.status);
  if (!argv.includes("HEAD")) expect(local.stdout).not.toBe("");
});
