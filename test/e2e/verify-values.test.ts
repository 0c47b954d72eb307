import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { afterAll, describe, expect, test } from "vitest";
import { SqliteFile } from "../../src/storage/sqlite/sqlite-file.ts";
import { type Home, Homes, remoteEnv, type Summary, writeInto } from "../support/starpost.ts";

interface Different {
  readonly file: string;
  readonly line: number;
  readonly column: string;
  readonly expected: string | null;
  readonly stored: string | null;
  readonly [id: string]: unknown;
}

interface Verified {
  readonly missing: readonly Different[];
  readonly missing_count: number;
  readonly different: readonly Different[];
  readonly different_count: number;
  readonly missing_file: string | null;
}

const homes = new Homes();
afterAll(() => homes.remove());

function change(home: Home, ...statements: string[]): void {
  const file = new SqliteFile(join(home.folder, "starpost.db"));
  for (const statement of statements) file.execute(statement);
  file.close();
}

async function load(home: Home, args: readonly string[], status = 0): Promise<Summary & { verified?: Verified }> {
  const { data, exitCode, stderr } = await home.json<Summary & { verified?: Verified }>(args);
  expect(stderr).not.toMatch(/"error"/);
  expect(exitCode).toBe(status);
  return data;
}

const verify = (home: Home, id: string, ...more: string[]) => home.json<Verified>(["imports", "verify", id, ...more]);

/** The differences as `line column: stored, expected`. */
function format({ different }: Verified): string[] {
  return different.map(({ line, column, expected, stored }) => `${line} ${column}: ${stored}, ${expected}`);
}

const header =
  "order_id,order_date,customer_name,email,product_id,product_name,product_url,product_price,currency_iso\n";
const line = (order: string, product: string, price = "10.00", name = "Ann") =>
  `${order},2026-01-02 10:30:00,${name},Ann@Mail.example,${product},Tea ${product},https://shop.example/${product},${price},eur\n`;

describe("the values of orders", () => {
  test("are compared by row and field, and can be imported again", async () => {
    const home = homes.open();
    const rows = line("o-1", "p-1") + line("o-1", "p-2", "7.50") + line("o-2", "p-1") + line("o-3", "p-3");
    const path = writeInto(home, "orders.csv", header + rows);
    const { import_id: id } = await load(home, ["orders", "import", path, "--verify"]);
    change(
      home,
      "update orders set customer_name = 'Eve', order_date = 0 where order_id = 'o-1'",
      "update orders set email = 'EVE@mail.example', currency_iso = null where order_id = 'o-3'",
      "update purchases set price = '8' where price like '7.5%'",
      "update products set name = 'Coffee' where product_id = 'p-1'",
    );
    const found = await verify(home, id);
    expect(found.exitCode).toBe(7);
    expect(format(found.data)).toEqual([
      "2 customer_name: Eve, Ann",
      "2 order_date: 1970-01-01, 2026-01-02",
      "2 product_name: Coffee, Tea p-1",
      "3 product_price: 8, 7.5",
      "4 product_name: Coffee, Tea p-1",
      "5 email: eve@mail.example, ann@mail.example",
      "5 currency_iso: null, EUR",
    ]);
    expect(found.data).toMatchObject({ missing_count: 0, different_count: 7 });
    expect(found.data.different[3]).toMatchObject({ order_id: "o-1", product_id: "p-2" });
    const missingFile = found.data.missing_file ?? "";
    const listed = parse(readFileSync(missingFile), { columns: true }) as Record<string, string>[];
    expect(listed.map(({ _line, _code }) => [_line, _code])).toEqual([
      ["2", "differs"],
      ["3", "differs"],
      ["4", "differs"],
      ["5", "differs"],
    ]);

    change(home, "update orders set email = 'ann@mail.example' where order_id = 'o-3'");
    const again = await load(home, ["orders", "import", missingFile, "--update-products"]);
    expect(again.items).toMatchObject({ accepted: 3, created: 0, changed: 3, unchanged: 0 });
    expect(await verify(home, id)).toMatchObject({ exitCode: 0, data: { different: [], different_count: 0 } });
  });

  test("include the price of each unit, and several rows that write the same product", async () => {
    const home = homes.open();
    const rows =
      line("o-1", "p-1", "10") +
      line("o-1", "p-1", "12.50") +
      line("o-2", "p-1", "11").replace("Tea p-1", "Old tea") +
      line("o-3", "p-1", "11").replace("Tea p-1", "New tea");
    const path = writeInto(home, "orders.csv", header + rows);
    const args = ["orders", "import", path, "--verify"];
    const names = [
      "2 product_name: New tea, Tea p-1",
      "3 product_name: New tea, Tea p-1",
      "4 product_name: New tea, Old tea",
    ];
    const { import_id: id, verified } = await load(home, args, 7);
    expect(verified).toMatchObject({ missing_count: 0, different_count: names.length });
    expect((await load(home, args, 7)).items).toMatchObject({ created: 0, changed: 0, unchanged: 3 });
    change(home, "update purchases set price = '13' where price like '12.5%'");
    expect(format((await verify(home, id)).data)).toEqual(["2 product_price: 10, 13, 10, 12.5", ...names]);
    change(
      home,
      "update products set name = 'Old tea' where product_id = 'p-1'",
      "update purchases set price = '12.5' where price = '13'",
    );
    expect(format((await verify(home, id)).data)).toEqual([
      "2 product_name: Old tea, Tea p-1",
      "3 product_name: Old tea, Tea p-1",
      "5 product_name: Old tea, New tea",
    ]);
  });

  test("do not differ in the time of an order, which imports do not send", async () => {
    const home = homes.open();
    const path = writeInto(home, "orders.csv", header + line("o-1", "p-1"));
    const { import_id: id } = await load(home, ["orders", "import", path]);
    change(home, "update orders set order_date = order_date + 3600000");
    expect((await load(home, ["orders", "import", path, "--verify"])).items).toMatchObject({ unchanged: 1 });
    expect((await verify(home, id)).exitCode).toBe(0);
  });

  test("are compared over HTTP and shown as a table", async () => {
    const far = homes.open();
    const server = await far.serve();
    const home = homes.open(remoteEnv(server));
    const path = writeInto(home, "orders.csv", header + line("o-1", "p-1"));
    const { import_id: id, items } = await load(home, ["orders", "import", path, "--rate", "0"]);
    expect(items).toMatchObject({ created: 1, changed: 0, unchanged: 0 });
    change(far, "update orders set customer_name = 'Eve'");
    const shown = await home.run(["imports", "verify", id, "--rate", "0"]);
    expect(shown.exitCode).toBe(7);
    expect(shown.stdout).toMatch(/orders\.csv +2 +customer_name +o-1 +p-1 +.*"Eve".*"Ann"/);
    const again = await load(home, ["orders", "import", path, "--rate", "0", "--verify"]);
    expect(again.items).toMatchObject({ created: 0, changed: 1, unchanged: 0 });
    expect(again.verified).toMatchObject({ different_count: 0 });
    await server.stop();
  });
});

describe("an order of another customer", () => {
  test.each([["without flags"], ["--no-validate"]])("is rejected, %s", async (flag) => {
    const home = homes.open();
    const flags = flag.startsWith("--") ? [flag] : [];
    const own = writeInto(home, "own.csv", header + line("o-1", "p-1"));
    const { import_id: id } = await load(home, ["orders", "import", own]);
    const other = line("o-1", "p-2").replace("Ann@Mail", "eve@mail").replace(",Ann,", ",Eve,");
    const path = writeInto(home, "other.csv", header + other + line("o-2", "p-1"));
    const found = await load(home, ["orders", "import", path, "--verify", ...flags], 3);
    expect(found.items).toEqual({ sent: 2, accepted: 1, rejected: 1, created: 1, changed: 0, unchanged: 0 });
    expect(found.rows).toMatchObject({ accepted: 1, rejected: 1 });
    expect(found.verified).toMatchObject({ missing_count: 0, different_count: 0 });
    const rejects = parse(readFileSync(found.rejects_file ?? ""), { columns: true }) as Record<string, string>[];
    expect(rejects).toMatchObject([{ _line: "2", _column: "email", _code: "order_conflict" }]);
    expect((await verify(home, id)).exitCode).toBe(0);
    expect(await home.json(["products", "list"])).toMatchObject({ data: [{ external_id: "p-1" }] });
  });
});

describe("the values of products", () => {
  const columns = "product_id,name,url,price,description,upc\n";

  test("are compared in every column that was sent", async () => {
    const home = homes.open();
    const long = "A very long text. ".repeat(200);
    const rows =
      `p-1,Tea,https://shop.example/1,1.50,${long},0123\n` +
      "p-2,Cup,https://shop.example/2,,,\n" +
      "p-2,Mug,https://shop.example/2,3,,\n";
    const path = writeInto(home, "products.csv", columns + rows);
    const { import_id: id, items, verified } = await load(home, ["products", "import", path, "--verify"]);
    expect(items).toMatchObject({ accepted: 2, created: 2, changed: 0, unchanged: 0 });
    expect(verified).toMatchObject({ missing_count: 0, different_count: 0 });
    change(
      home,
      "update products set price = '2', description = description || '.', upc = '7' where product_id = 'p-1'",
      "update products set name = 'Cup', description = 'kept' where product_id = 'p-2'",
    );
    const found = await verify(home, id);
    expect(found.data.different.map(({ line: at, column }) => `${at} ${column}`).toSorted()).toEqual([
      "2 description",
      "2 price",
      "2 upc",
      "4 name",
    ]);
    for (const { expected } of found.data.different) expect(String(expected).length).toBeLessThan(150);
  });

  test("include an erased description", async () => {
    const home = homes.open();
    const path = writeInto(home, "products.csv", `${columns}p-1,Tea,https://shop.example/1,1,A text,\n`);
    await load(home, ["products", "import", path]);
    const erased = writeInto(home, "erased.csv", "product_id,description\np-1,\n");
    const args = ["products", "import", erased, "--update", "--empty", "clear", "--verify", "--yes"];
    const { import_id: id, items, verified } = await load(home, args);
    expect(items).toMatchObject({ created: 0, changed: 1, unchanged: 0 });
    expect(verified).toMatchObject({ different_count: 0 });
    change(home, "update products set description = 'Back'");
    expect(format((await verify(home, id)).data)).toEqual(["2 description: Back, null"]);
  });
});

test("the values of reviews are compared, also the text of one that was changed", async () => {
  const home = homes.open();
  const path = writeInto(
    home,
    "reviews.csv",
    "published,review_title,review_content,review_score,date,product_id,display_name,email,comment_content\n" +
      "true,Good,Very good,5,2024-05-01,tea,Ann,ann@mail.example,Thanks\n" +
      "true,Bad,Not good,1,2024-05-02,tea,Bo,bo@mail.example,\n" +
      "true,Bad,Not good,1,2024-05-02,tea,Bo,bo@mail.example,Sorry\n",
  );
  const args = ["reviews", "import", path, "--verify"];
  const { import_id: id, items, verified } = await load(home, args);
  expect(items).toMatchObject({ accepted: 3, created: 3, changed: 0, unchanged: 0 });
  expect(verified).toMatchObject({ missing_count: 0, different_count: 0 });
  change(
    home,
    "update reviews set score = 2, comment = 'Thank you' where title = 'Good'",
    "update reviews set comment = 'None' where comment = 'Sorry'",
  );
  const found = await verify(home, id);
  expect(found.exitCode).toBe(7);
  expect(format(found.data)).toEqual([
    "2 review_score: 2, 5",
    "2 comment_content: Thank you, Thanks",
    "4 comment_content: None, Sorry",
  ]);
});

test("the images of reviews and the dates of replies are compared", async () => {
  const home = homes.open();
  const path = writeInto(
    home,
    "reviews.csv",
    "review_content,review_score,date,product_id,display_name,email,comment_content,comment_date,image_urls\n" +
      "Good,5,2024-05-01,tea,Ann,ann@mail.example,Thanks,2024-05-03,https://img.example/a.jpg\n" +
      "Bad,1,2024-05-02,tea,Bo,bo@mail.example,Sorry,2024-05-04,https://img.example/b.jpg https://img.example/c.jpg\n",
  );
  const { import_id: id, verified } = await load(home, ["reviews", "import", path, "--verify"]);
  expect(verified).toMatchObject({ missing_count: 0, different_count: 0 });
  change(
    home,
    "update review_images set url = 'https://img.example/x.jpg' where url = 'https://img.example/a.jpg'",
    "update reviews set comment_at = 1714867200000 where comment = 'Sorry'",
  );
  expect(format((await verify(home, id)).data)).toEqual([
    "2 image_urls: https://img.example/x.jpg, https://img.example/a.jpg",
    "3 comment_date: 2024-05-05, 2024-05-04",
  ]);
});

test("the action of a coupon is compared", async () => {
  const home = homes.open();
  const path = writeInto(home, "codes.csv", "code\nAAA\nBBB\n");
  const { import_id: id, items } = await load(home, ["coupons", "import", path, "--action", "map_share"]);
  expect(items).toMatchObject({ created: 2, changed: 0, unchanged: 0 });
  change(home, "update coupons set action = 'map_review' where code = 'BBB'");
  const found = await verify(home, id);
  expect(found.exitCode).toBe(7);
  expect(format(found.data)).toEqual(["3 coupon_action: map_review, map_share"]);
});

describe("the outcomes of a run", () => {
  test("are in its list, its report, and its summary after a resume", async () => {
    const home = homes.open();
    const path = writeInto(home, "orders.csv", header + line("o-1", "p-1") + line("o-2", "p-1"));
    const { import_id: id, items } = await load(home, ["orders", "import", path]);
    const counts = { created: 2, changed: 0, unchanged: 0 };
    expect(items).toMatchObject(counts);
    expect((await home.json<Summary[]>(["imports", "list"])).data[0]?.items).toEqual(items);
    expect((await home.json(["imports", "show", id])).data.items).toEqual(items);
    expect((await home.json(["imports", "resume", id])).data.items).toEqual(items);
    expect((await home.json(["imports", "report", id])).data.items).toEqual(items);
  });

  test("count removed addresses as changed, and stored ones as unchanged", async () => {
    const home = homes.open();
    const path = writeInto(home, "all.csv", "email\na@mail.example\nb@mail.example\n");
    const args = ["unsubscribers", "import", path, "--type", "1"];
    expect((await load(home, args)).items).toMatchObject({ created: 2, changed: 0, unchanged: 0 });
    expect((await load(home, args)).items).toMatchObject({ created: 0, changed: 0, unchanged: 2 });
    const removal = [...args, "--remove", "--yes"];
    expect((await load(home, removal)).items).toMatchObject({ created: 0, changed: 2, unchanged: 0 });
    expect((await load(home, removal)).items).toMatchObject({ created: 0, changed: 0, unchanged: 2 });
  });

  test("of mixed email types belong to their rows", async () => {
    const home = homes.open();
    const one = writeInto(home, "one.csv", "email,email_type_id\nb@mail.example,1\n");
    await load(home, ["unsubscribers", "import", one]);
    const rows = "a@mail.example,17\nb@mail.example,1\nc@mail.example,2\n";
    const path = writeInto(home, "mixed.csv", `email,email_type_id\n${rows}`);
    const { items } = await load(home, ["unsubscribers", "import", path]);
    expect(items).toMatchObject({ created: 2, changed: 0, unchanged: 1 });
  });
});
