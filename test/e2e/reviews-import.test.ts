import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SqliteFile } from "../../src/storage/sqlite/sqlite-file.ts";
import { type Home, Homes, remoteEnv, type Summary, writeInto } from "../support/starpost.ts";
import { shortenRetryDelays } from "../support/retry-delays.ts";

const exportedReviews = "fixtures/exports/reviews.csv";
const homes = new Homes();
afterAll(() => homes.remove());

type Row = Record<string, string>;

/** The reviews of a home, as exported. */
async function listReviews(home: Home): Promise<Row[]> {
  const { stdout } = await home.run(["reviews", "export"], { stripFinalNewline: false });
  return parse(stdout, { columns: true });
}

/** The number of queued emails and webhook deliveries. */
function countOutbox(home: Home): number {
  const file = new SqliteFile(join(home.folder, "starpost.db"));
  const [row] = file.all("select (select count(*) from mails) + (select count(*) from webhook_deliveries) as queued");
  file.close();
  return Number(row?.["queued"]);
}

const published = `published,review_title,review_content,review_score,date,product_id,display_name,email,comment_content
true,Pours well,"Two lines,
""quoted"" 😀",5,2018-08-15,teapot,Ann,ann@mail.example,Thank you
false,Rude,Bad words,1,2018-08-16T10:11:12+02:00,teapot,Bob,bob@mail.example,
,Unanswered,No reply,4.0,2018/08/17 09:30:00,cup,Cai,cai@mail.example,
`;

describe("layouts of other vendors", () => {
  test("imports the layout with `published` first", async () => {
    const home = homes.open();
    const file = writeInto(home, "reviews.csv", published);
    const { exitCode, data, stderr } = await home.json([
      "reviews",
      "import",
      file,
      "--product-url",
      "https://shop.example/p/{product_id}",
    ]);
    expect(exitCode, stderr).toBe(0);
    expect(data).toMatchObject({ kind: "reviews", rows: { read: 3, accepted: 3, rejected: 0, failed: 0 } });
    expect(await listReviews(home)).toMatchObject([
      {
        published: "true",
        review_title: "Pours well",
        review_content: 'Two lines,\n"quoted" 😀',
        review_score: "5",
        date: "2018-08-15T00:00:00.000Z",
        product_id: "teapot",
        display_name: "Ann",
        email: "ann@mail.example",
        comment_content: "Thank you",
        product_title: "teapot",
        product_url: "https://shop.example/p/teapot",
        user_type: "anonymous",
      },
      { published: "false", date: "2018-08-16T08:11:12.000Z", comment_content: "" },
      { published: "true", date: "2018-08-17T00:00:00.000Z", review_score: "4", product_id: "cup" },
    ]);
    expect(countOutbox(home)).toBe(0);
  });

  test("imports the layout with `review_title` first, for a product with another stored name", async () => {
    const home = homes.open();
    const products = writeInto(home, "products.csv", "product_id,name,url\nteapot,Old pot,https://shop.example/old\n");
    await home.run(["products", "import", products]);
    const header =
      "review_title,review_content,display_name,user_email,user_type,review_score,date,sku,product_title,product_description,product_url,product_image_url";
    const file = writeInto(
      home,
      "reviews.csv",
      `${header}
Good,Pours,Ann,ann@mail.example,verified_buyer,5,2018-08-15,teapot,Teapot,A pot,https://shop.example/teapot,
Fine,Drinks,Bob,bob@mail.example,Robot,4,2018-08-15,cup,Cup,A cup,https://shop.example/cup,https://shop.example/cup.jpg
`,
    );
    const { exitCode, stderr } = await home.run(["reviews", "import", file]);
    expect(exitCode, stderr).toBe(0);
    expect(stderr).toMatch(/1 cell .*user_type/);
    expect(await listReviews(home)).toMatchObject([
      { product_id: "cup", product_title: "Cup", user_type: "anonymous" },
      {
        product_id: "teapot",
        product_title: "Old pot",
        product_url: "https://shop.example/old",
        user_type: "verified_buyer",
      },
    ]);
  });
});

describe("invalid rows", () => {
  test("are limited to one review per call", async () => {
    const home = homes.open();
    const file = writeInto(home, "reviews.csv", published);
    const { exitCode, stderr } = await home.run(["reviews", "import", file, "--batch-size", "2"]);
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(/--batch-size/)]);
  });
});

describe("existing reviews", () => {
  const row = "true,Good,Pours,5,2018-08-15,teapot,Ann,ann@mail.example\n";
  const header = "published,review_title,review_content,review_score,date,product_id,display_name,email\n";

  test("imports a repeated row as two reviews, and adds none when repeated", async () => {
    const home = homes.open();
    const file = writeInto(home, "reviews.csv", header + row + row);
    const first = await home.json(["reviews", "import", file]);
    expect(first.data.rows).toEqual({ read: 2, accepted: 2, rejected: 0, failed: 0 });
    const again = await home.json(["reviews", "import", file, "--verify"]);
    expect(again.exitCode, again.stderr).toBe(0);
    expect(again.data).toMatchObject({
      rows: { read: 2, accepted: 2, rejected: 0, failed: 0 },
      items: { created: 0, changed: 0, unchanged: 2 },
      calls: { sent: 0 },
    });
    const more = await home.json(["reviews", "import", writeInto(home, "more.csv", header + row.repeat(3))]);
    expect(more.data.items).toMatchObject({ created: 1, changed: 0, unchanged: 2 });
    expect(await listReviews(home)).toHaveLength(3);
  });

  test("treats a review with another day, product, person, or score as another review", async () => {
    const home = homes.open();
    const others = [
      row.replace("2018-08-15", "2018-08-16"),
      row.replace("teapot", "cup"),
      row.replace("ann@", "bob@"),
      row.replace(",5,", ",4,"),
    ];
    const { data } = await home.json(["reviews", "import", writeInto(home, "r.csv", header + row + others.join(""))]);
    expect(data.rows).toEqual({ read: 5, accepted: 5, rejected: 0, failed: 0 });
    const same = row.replace("ann@", "ANN@").replace("Pours", " Pours ");
    const again = await home.json(["reviews", "import", writeInto(home, "s.csv", header + same)]);
    expect(again.data.items).toMatchObject({ accepted: 1, created: 0, changed: 0, unchanged: 1 });
  });
});

/** Reviews that each have an identical copy later in the file. */
function manyReviews(count: number): string {
  const line = (at: number) =>
    `true,Title ${at},"Line one\nline two of ${at}",${(at % 5) + 1},2019-01-${String((at % 28) + 1).padStart(2, "0")},p-${at % 40},Ann ${at},a${at}@mail.example\n`;
  const lines = Array.from({ length: count / 2 }, (_, at) => line(at));
  return `published,review_title,review_content,review_score,date,product_id,display_name,email\n${[...lines, ...lines].join("")}`;
}

/** The number of copies of each review. */
async function countCopies(home: Home): Promise<number[]> {
  const copies = new Map<string, number>();
  for (const { review_content = "" } of await listReviews(home)) {
    copies.set(review_content, (copies.get(review_content) ?? 0) + 1);
  }
  return [...copies.values()];
}

/** Starts a run and kills it when its journal contains a number of calls. */
async function killAfterCalls(client: Home, args: readonly string[], calls: number): Promise<string> {
  const running = client.start(args);
  while (running.exitCode === null && countLines(client) < calls) await wait(10);
  running.kill("SIGKILL");
  await running;
  const { data: runs } = await client.json<Summary[]>(["imports", "list"]);
  expect(runs.map(({ state }) => state)).toEqual(["interrupted"]);
  return runs[0]?.import_id ?? "";
}

function countLines({ folder }: Home): number {
  const runs = join(folder, "imports");
  const journals = existsSync(runs) ? readdirSync(runs).map((id) => join(runs, id, "journal.ndjson")) : [];
  const texts = journals.filter((path) => existsSync(path)).map((path) => readFileSync(path, "utf8"));
  return texts.join("").split("\n").length;
}

describe("an interrupted run", () => {
  shortenRetryDelays();

  test.each(["local", "remote"])("loses and duplicates nothing after SIGKILL, %s", async (mode) => {
    const home = homes.open();
    const server = mode === "remote" ? await home.serve() : undefined;
    const client = server ? homes.open(remoteEnv(server)) : home;
    const file = writeInto(client, "reviews.csv", manyReviews(600));
    const rate = ["--rate", "100"];
    const id = await killAfterCalls(client, ["reviews", "import", file, ...rate], 150);
    await killAfterCalls(client, ["imports", "resume", id, ...rate], 600);
    const { data, stderr } = await client.json(["imports", "resume", id, "--rate", "0"]);
    expect(data.rows, stderr).toEqual({ read: 600, accepted: 600, rejected: 0, failed: 0 });
    const copies = await countCopies(home);
    expect(copies).toHaveLength(300);
    expect(new Set(copies)).toEqual(new Set([2]));
    await server?.stop();
  });

  test("stores everything once despite lost responses, throttling, and failures of the service", async () => {
    const home = homes.open();
    // Requests are concurrent, so it is random which review meets which fault. Few faults occur before processing, so that
    // no review fails four times in a row and is taken for one that always makes the service fail.
    const server = await home.serve(["--chaos", "drop=8%,429=3%,500=1%,reset=2%,seed=11"]);
    const client = homes.open(remoteEnv(server));
    const file = writeInto(client, "reviews.csv", manyReviews(300));
    const { exitCode, data, stderr } = await client.json(["reviews", "import", file, "--rate", "0"]);
    expect(exitCode, stderr).toBe(0);
    expect(data.rows).toEqual({ read: 300, accepted: 300, rejected: 0, failed: 0 });
    expect(data.calls.retried).toBeGreaterThan(0);
    await server.stop();
    const copies = await countCopies(home);
    expect(copies).toHaveLength(150);
    expect(new Set(copies)).toEqual(new Set([2]));
  });
});

/** A service with only the specified endpoints, which sets the date of reviews itself and returns no details. */
async function serveElsewhere() {
  const created_at = "2026-03-15T12:00:00.000Z";
  const votes = { votes_up: 0, votes_down: 0 };
  const stored: Readonly<Record<string, unknown> & { id: number }>[] = [];
  const take = ({ sku, email, display_name, review_title, review_content, review_score }: Row) => {
    const content = { title: review_title, content: review_content, score: Number(review_score), created_at };
    const id = stored.length + 1;
    const listed = { reviewer_type: "anonymous", deleted: false, user_reference: null };
    stored.push({ id, ...content, ...votes, sku, name: display_name, email, ...listed });
    const user = { id, display_name, slug: "a", social_image: null, is_social_connected: false, bio: null };
    const review = {
      id,
      ...content,
      ...votes,
      user: { ...user, score: 0, badges: [] },
      user_type: "Anonymous",
      users: [],
      products: [],
      user_vote: 0,
      deleted: false,
      new: true,
      verified_buyer: false,
      archived: false,
      social_pushed: false,
      facebook_pushed: 0,
      twitter_pushed: 0,
      account: { id: 1, domain: "", comments_display_name: "" },
      products_apps: [],
    };
    return { status: { code: 200, message: "OK" }, response: { reviews: [review] } };
  };
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (piece: Buffer) => (text += piece.toString()));
    request.on("end", () => {
      const url = new URL(request.url ?? "", "http://x");
      const since = Number(url.searchParams.get("since_id") ?? 0);
      const answer = url.pathname.startsWith("/oauth")
        ? { access_token: "t", token_type: "bearer" }
        : request.method === "POST"
          ? take(JSON.parse(text) as Row)
          : { reviews: stored.filter(({ id }) => id >= since).slice(0, 10) };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, stored, close: () => server.close() };
}

test("warns that a service without import support sets the dates itself, and creates no duplicates", async () => {
  const elsewhere = await serveElsewhere();
  const home = homes.open(remoteEnv({ url: elsewhere.url, app_key: "k", secret: "s" }));
  const file = writeInto(home, "reviews.csv", manyReviews(40));
  const first = await home.json(["reviews", "import", file, "--rate", "0"]);
  expect(first.exitCode, first.stderr).toBe(0);
  expect(first.stderr.match(/^.*\bdate of .*review.*$/gm)).toHaveLength(1);
  const again = await home.json(["reviews", "import", file, "--rate", "0"]);
  elsewhere.close();
  expect(again.exitCode, again.stderr).toBe(0);
  expect(again.data.items).toMatchObject({ accepted: 40, created: 0, changed: 0, unchanged: 40 });
  expect(elsewhere.stored).toHaveLength(40);
});

describe("a complete export of reviews", () => {
  const home = homes.open();
  let given: Row[];
  beforeAll(async () => {
    given = parse(readFileSync(exportedReviews), { columns: true });
    const { exitCode, data, stderr } = await home.json(["reviews", "import", exportedReviews]);
    expect(exitCode, stderr).toBe(0);
    expect(data.rows).toEqual({ read: given.length, accepted: given.length, rejected: 0, failed: 0 });
  });

  test("preserves the texts, including line breaks and emoji", async () => {
    const asText = (row: Row) =>
      JSON.stringify([
        row["product_id"],
        row["email"],
        row["review_title"]?.trim(),
        row["review_content"]?.trim(),
        row["review_score"],
        row["display_name"],
        row["date"]?.slice(0, 10),
      ]);
    const found = (await listReviews(home)).map(asText);
    const wanted = given.map(asText);
    const inOrder = (texts: string[]) => texts.toSorted((a, b) => (a < b ? -1 : 1));
    expect(inOrder(found)).toEqual(inOrder(wanted));
    expect(found.some((text) => /\\n/.test(text))).toBe(true);
    expect(found.some((text) => /\p{Extended_Pictographic}/u.test(text))).toBe(true);
    expect(countOutbox(home)).toBe(0);
  });
});
