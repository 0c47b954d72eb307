import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parse } from "csv-parse/sync";
import { afterAll, expect, test } from "vitest";
import { SqliteFile } from "../../src/storage/sqlite/sqlite-file.ts";
import { type Home, Homes, remoteEnv, type Summary } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());

/** The number of concurrent calls to the embedded engine. */
const concurrency = 5;

function writeReviews(home: Home, count: number): string {
  const path = join(home.folder, "reviews.csv");
  const header = "published,review_title,review_content,review_score,date,product_id,display_name,email\n";
  const rows = Array.from({ length: count }, (_, at) => `true,T,Text ${at},5,2019-01-02,p,Ann,a${at}@mail.example\n`);
  writeFileSync(path, header + rows.join(""));
  return path;
}

async function listContents(home: Home): Promise<string[]> {
  const { stdout } = await home.run(["reviews", "export"]);
  return parse<Record<string, string>>(stdout, { columns: true }).map(({ review_content = "" }) => review_content);
}

/** Waits until an import of the home has sent calls, and returns its ID. */
async function waitUntilSending({ folder }: Home, except = ""): Promise<string> {
  const runs = join(folder, "imports");
  for (;;) {
    const ids = existsSync(runs) ? readdirSync(runs).filter((id) => id !== except) : [];
    const journalOf = (id: string) => join(runs, id, "journal.ndjson");
    const sending = ids.find(
      (id) => existsSync(journalOf(id)) && readFileSync(journalOf(id), "utf8").includes('"done"'),
    );
    if (sending !== undefined) return sending;
    await wait(10);
  }
}

/** Lets a day pass for the service and for a run: the service forgets idempotency keys, and the run knows. */
function forgetKeys({ folder }: Home, id: string): void {
  const file = new SqliteFile(join(folder, "starpost.db"));
  file.execute("delete from idempotent_calls");
  file.close();
  const journal = join(folder, "imports", id, "journal.ndjson");
  const lines = readFileSync(journal, "utf8").replaceAll(/("key":"[^"]+","at":)\d+/g, "$10");
  writeFileSync(journal, lines);
}

test("an import of reviews is refused while another one into the same account runs, but not after it was killed", async () => {
  const home = homes.open();
  const file = writeReviews(home, 60);
  const first = home.start(["reviews", "import", file, "--rate", "5"]);
  const id = await waitUntilSending(home);

  const second = await home.run(["reviews", "import", file]);
  expect(second.exitCode).toBe(1);
  expect(second.stderr).toContain(id);
  const { data: runs } = await home.json<Summary[]>(["imports", "list"]);
  expect(runs.map(({ import_id, state }) => [import_id, state])).toEqual([[id, "running"]]);
  // Imports of other kinds, and dry runs, are allowed.
  const coupons = join(home.folder, "coupons.csv");
  writeFileSync(coupons, "code\nAAAA\n");
  expect((await home.run(["coupons", "import", coupons, "--action", "map_review"])).exitCode).toBe(0);
  expect((await home.run(["reviews", "import", file, "--dry-run"])).exitCode).toBe(0);

  first.kill("SIGKILL");
  await first;
  const third = await home.json(["reviews", "import", file]);
  expect(third.data.rows.accepted, third.stderr).toBe(60);
  expect((third.data.items.created ?? 0) + (third.data.items.unchanged ?? 0)).toBe(60);
  forgetKeys(home, id);
  const resumed = await home.json(["imports", "resume", id]);
  expect(resumed.data.rows.read).toBe(60);
  // Each review was created by one of the runs, and the other one reports it as stored already. Only of the calls in flight
  // when the first run was killed is it unknown which run stored their reviews.
  const both = (resumed.data.items.created ?? 0) + (third.data.items.created ?? 0) - 60;
  expect(both, resumed.stderr).toBeGreaterThanOrEqual(0);
  expect(both, resumed.stderr).toBeLessThanOrEqual(concurrency);
  const contents = await listContents(home);
  expect([contents.length, new Set(contents).size]).toEqual([60, 60]);
});

test("a resume is refused while another import of reviews runs", async () => {
  const home = homes.open();
  const file = writeReviews(home, 60);
  const first = home.start(["reviews", "import", file, "--rate", "5"]);
  const killed = await waitUntilSending(home);
  first.kill("SIGKILL");
  await first;
  const other = join(home.folder, "other.csv");
  writeFileSync(other, readFileSync(file, "utf8").replaceAll("Text", "Other text"));
  const running = home.start(["reviews", "import", other, "--rate", "5"]);
  const id = await waitUntilSending(home, killed);
  const refused = await home.run(["imports", "resume", killed]);
  running.kill("SIGKILL");
  await running;
  expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining(id)]);
});

test("two machines that import the same reviews at the same time store each once", async () => {
  // Together, the two stay below the rate limit, so that neither has to wait until the other has finished.
  const count = 24;
  const home = homes.open();
  const server = await home.serve();
  const clients = [homes.open(remoteEnv(server)), homes.open(remoteEnv(server))];
  const results = await Promise.all(
    clients.map((client) => client.start(["reviews", "import", writeReviews(client, count), "--rate", "2", "--json"])),
  );
  for (const { stdout, stderr } of results) {
    const { rows } = JSON.parse(String(stdout)) as Summary;
    expect(rows, String(stderr)).toMatchObject({ read: count, failed: 0 });
  }
  const items = results.map(({ stdout }) => (JSON.parse(String(stdout)) as Summary).items);
  const sum = (name: "accepted" | "created" | "unchanged") =>
    items.reduce((total, { [name]: n }) => total + (n ?? 0), 0);
  // Otherwise, they did not run at the same time.
  expect(sum("accepted")).toBeGreaterThan(count);
  expect([sum("created"), sum("unchanged")]).toEqual([count, sum("accepted") - count]);
  await server.stop();
  const contents = await listContents(home);
  expect([contents.length, new Set(contents).size]).toEqual([count, count]);
});
