import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { digestDatabase, findCases, type Plan, type PlannedCase } from "../support/planned-imports.ts";
import { execute, postgresServer, postgresSkipped, takeEmptyDatabase, type TestDatabase } from "../support/postgres.ts";
import { type Home, Homes, remoteEnv, type Summary } from "../support/starpost.ts";
import { sample } from "../support/suite-size.ts";

const homes = new Homes();
afterAll(() => homes.remove());

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "starpost-test-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const readIfExists = (path: string) => (existsSync(path) ? readFileSync(path) : undefined);

/** Plans and imports a file; expects equal results and no changes by the plan. */
async function expectAgreement(
  home: Home,
  { file, kind, flags }: PlannedCase,
  digest: () => Promise<string> | string,
): Promise<void> {
  const [before, folderBefore] = [await digest(), readdirSync(home.folder)];
  const rejects = (name: string) => join(folder, name);
  const planned = await home.json<Plan>([kind, "plan", file, ...flags, "--rejects", rejects("plan.csv")]);
  expect(await digest()).toBe(before);
  expect(readdirSync(home.folder)).toEqual(folderBefore);
  const imported = await home.json<Summary | undefined>([
    kind,
    "import",
    file,
    ...flags,
    "--rejects",
    rejects("import.csv"),
  ]);
  expect([planned.exitCode, planned.stderr]).toEqual([imported.exitCode, expect.any(String)]);
  expect(readIfExists(rejects("plan.csv"))).toEqual(readIfExists(rejects("import.csv")));
  if (imported.data === undefined) {
    expect(planned.data).toBeUndefined();
    expect(JSON.parse(planned.stderr.trim().split("\n").at(-1) ?? "")).toEqual(
      JSON.parse(imported.stderr.trim().split("\n").at(-1) ?? ""),
    );
    return;
  }
  const { state, rows, items, calls } = planned.data;
  expect({ state, rows, items, calls }).toEqual({
    state: imported.data.state,
    rows: imported.data.rows,
    items: imported.data.items,
    calls: imported.data.calls,
  });
  const rejected = planned.data.rejects.reduce((sum, { count }) => sum + count, 0);
  expect(rejected).toBe(rows.rejected + rows.failed);
}

describe("a plan and the import that follows agree", () => {
  const home = homes.open();
  const digest = () => digestDatabase(join(home.folder, "starpost.db"));
  beforeAll(async () => {
    // The first use creates the account, its key, and its token.
    await home.run(["auth", "token"]);
    await home.run(["coupons", "import", "fixtures/good/coupons.csv", "--action", "map_review"]);
  });

  const cases = sample(findCases(["fixtures"]), { offset: 0, step: 5 });
  test.each(cases.map((one) => [one.file, one] as const))("%s", async (_file, one) => {
    await expectAgreement(home, one, digest);
  });

  test.each([
    ["fixtures/good/products.csv", ["--update", "--empty", "clear"]],
    ["fixtures/bad/products.csv", ["--update"]],
    ["fixtures/bad/products.csv", ["--batch-size", "1", "--max-errors", "0"]],
    ["fixtures/bad/products.csv", ["--empty", "error"]],
  ])("%s with %j", async (file, flags) => {
    await expectAgreement(home, { file, kind: "products", flags }, digest);
  });

  test.each([
    ["fixtures/bad/product-ids.csv", ["--fix-ids"]],
    ["fixtures/good/orders.csv", ["--no-validate", "--platform", "shopify"]],
  ])("%s with %j", async (file, flags) => {
    await expectAgreement(home, { file, kind: "orders", flags }, digest);
  });

  test("for removed addresses", async () => {
    const file = "fixtures/good/unsubscribers.csv";
    await expectAgreement(home, { file, kind: "unsubscribers", flags: ["--remove"] }, digest);
  });
});

const few: readonly PlannedCase[] = findCases(["fixtures/good", "fixtures/bad"]).filter(({ file }) =>
  /good\/(orders|coupons)\.csv|bad\/(products|unsubscribers)\.csv/.test(file),
);

describe("with a remote account", () => {
  let server: Awaited<ReturnType<Home["serve"]>>;
  let home: Home;
  let temporary: string;
  const serving = homes.open();
  beforeAll(async () => {
    server = await serving.serve();
    home = homes.open(remoteEnv(server));
    await home.run(["auth", "token"]);
    temporary = mkdtempSync(join(tmpdir(), "starpost-test-"));
    vi.stubEnv("TMPDIR", temporary);
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await server.stop();
    rmSync(temporary, { recursive: true });
  });

  test.each([...few, ...few].map((one, at) => [one.file, at < few.length ? "first" : "again", one] as const))(
    "%s, %s",
    async (_file, _time, one) => {
      const digest = () => digestDatabase(join(serving.folder, "starpost.db"), ["utokens"]);
      await expectAgreement(home, { ...one, flags: [...one.flags, "--rate", "0"] }, digest);
      expect(readdirSync(temporary)).toEqual([basename(folder)]);
    },
  );
});

describe.skipIf(postgresServer === undefined)("on PostgreSQL", () => {
  let database: TestDatabase;
  let home: Home;
  beforeAll(async () => {
    database = await takeEmptyDatabase();
    const key = randomBytes(32).toString("hex");
    home = homes.open({ STARPOST_DATABASE: database.url, STARPOST_KEY: key });
    await home.run(["auth", "token"]);
  });
  afterAll(async () => database.drop());

  const digest = async () => {
    const tables = await execute(
      "select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1",
      database.url,
    );
    const names = tables.map(({ relname }) => String(relname));
    const rows = names.map((name) => `union all select '${name}', to_jsonb(t) from ${name} as t`);
    // Without tables before the first import.
    const all = `select null as name, null::jsonb as row ${rows.join(" ")} order by 1, 2`;
    return JSON.stringify(await execute(all, database.url));
  };

  test.each([...few, ...few].map((one, at) => [one.file, at < few.length ? "first" : "again", one] as const))(
    "%s, %s",
    async (_file, _time, one) => {
      await expectAgreement(home, one, digest);
    },
  );
});

if (postgresServer === undefined) test.skip(`a plan on ${postgresSkipped}`);
