import { writeFileSync, chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { type Home, Homes } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());

const productUrl = "https://shop.example/{product_id}";
const header = "published,review_title,review_content,review_score,date,product_id,display_name,email,comment_content";
const rowOf = (score: number, name: string) =>
  `true,Pours,It pours,${score},2018-08-15,teapot,${name},${name}@mail.example,`;

async function importReviews(home: Home, ...rows: string[]): Promise<void> {
  const file = join(home.folder, "reviews.csv");
  writeFileSync(file, [header, ...rows, ""].join("\n"));
  const { exitCode, stderr } = await home.run(["reviews", "import", file, "--product-url", productUrl]);
  expect(exitCode, stderr).toBe(0);
}

const readDelay = async (home: Home) =>
  (await home.json<{ settings: { bottom_lines_delay: number } }>(["account", "show"])).data.settings.bottom_lines_delay;

async function readLines({ url, app_key }: { url: string; app_key: string }): Promise<unknown> {
  const response = await fetch(`${url}/v1/apps/${app_key}/bottom_lines?count=10&page=1`);
  return ((await response.json()) as { response: { bottomlines: unknown } }).response.bottomlines;
}

const lineOf = (product_score: number, total_reviews: number) => [
  { domain_key: "teapot", product_score, total_reviews },
];

test("an account that a command creates lists imported reviews at once, also when it is served", async () => {
  const home = homes.open();
  await importReviews(home, rowOf(5, "ann"));
  expect(await readDelay(home)).toBe(0);
  const { data } = await home.json<unknown>(["api", "reviews.bottomLines"]);
  expect(data).toMatchObject(lineOf(5, 1));
  const server = await home.serve();
  expect(await readLines(server)).toEqual(lineOf(5, 1));
  await server.stop();
});

test("a running server honors the delay that a command sets", async () => {
  const home = homes.open();
  const server = await home.serve();
  await importReviews(home, rowOf(4, "ann"));
  expect(await readLines(server)).toEqual([]);
  const { data } = await home.json(["account", "set", "--bottom-lines-delay", "0"]);
  expect(data).toMatchObject({ settings: { bottom_lines_delay: 0 } });
  expect(await readLines(server)).toEqual(lineOf(4, 1));
  await home.run(["account", "set", "--bottom-lines-delay", "60"]);
  expect(await readLines(server)).toEqual([]);
  await server.stop();
});

test.each([[[]], [["--bottom-lines-delay", "86401"]], [["--bottom-lines-delay=-1"]]])(
  "account set %j is a usage error that names the flag",
  async (flags) => {
    const home = homes.open();
    const { exitCode, stdout, stderr } = await home.run(["account", "set", ...flags]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toContain("--bottom-lines-delay");
  },
);

interface LogLine {
  readonly level: string;
  readonly time: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

test("a server logs only JSON, with the account and the caller, and reloads its settings on SIGHUP", async () => {
  const home = homes.open();
  const server = await home.serve();
  let output = "";
  server.process.stderr?.on("data", (data: Buffer) => (output += data.toString()));
  const lines = () =>
    output
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as LogLine);
  const find = (msg: string) => lines().filter((line) => line.msg === msg);
  const reload = async (msg: string) => {
    const before = find(msg).length;
    server.process.kill("SIGHUP");
    await expect.poll(() => find(msg).length).toBe(before + 1);
    return find(msg).at(-1);
  };

  const { stdout: token } = await home.run(["auth", "token"]);
  await fetch(`${server.url}/apps/${server.app_key}/purchases?utoken=${token}`);
  await fetch(`${server.url}/apps/${server.app_key}/purchases?utoken=wrong-token-of-ann@mail.example`);
  await fetch(`${server.url}/products/${server.app_key}/teapot/bottomline`);
  await expect.poll(() => find("call")).toHaveLength(3);
  const [signed, refused, open] = find("call");
  expect(signed).toMatchObject({
    account: server.app_key,
    status: 200,
    caller: expect.stringMatching(/^token-[0-9a-f]{8}$/),
  });
  expect(refused).toMatchObject({ account: null, status: 401, caller: "public" });
  expect(open).toMatchObject({ account: server.app_key, status: 200, caller: "public", id: expect.any(String) });
  for (const secret of [token, "ann@mail.example", server.secret]) expect(output).not.toContain(secret);

  expect(await reload("configuration reloaded")).toMatchObject({ settings: ["mail", "webhooks"] });
  const settings = join(home.folder, "mail.json");
  const mail = { smtp: null, from: "Shop <shop@mail.example>" };
  writeFileSync(settings, JSON.stringify({ ...mail, smtp: { host: "not a host" } }));
  chmodSync(settings, 0o600);
  const kept = await reload("configuration not reloaded; the old one stays in use");
  expect(kept).toMatchObject({ level: "error", error: expect.stringContaining("mail.json") });
  writeFileSync(settings, JSON.stringify(mail));
  await reload("configuration reloaded");
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  expect(await server.stop()).toBe(0);
  expect(lines().every(({ level, time }) => level !== undefined && time !== undefined)).toBe(true);
  expect(readFileSync("docs/operations/starpost.service", "utf8")).toContain("ExecReload=/bin/kill -HUP $MAINPID\n");
});
