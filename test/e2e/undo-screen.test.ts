import { afterAll, expect, test } from "vitest";
import { type Home, Homes, writeInto } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());

/** Runs an import and reads its ID from the summary. */
async function importRun(home: Home, args: readonly string[]): Promise<string> {
  const { exitCode, stderr } = await home.run(args);
  expect(exitCode, stderr).toBe(0);
  const id = /imports show (\S+)$/m.exec(stderr)?.[1];
  expect(id, stderr).toBeDefined();
  return id ?? "";
}

test("the undo of an order import cancels its emails", async () => {
  const home = homes.open();
  const today = new Date().toISOString().slice(0, 10);
  const header = "order_id,order_date,customer_name,email,product_id,product_name,product_url\n";
  const row = (id: string) => `${id},${today},Ada,ada@x.example,mug,Mug,https://x.example/mug\n`;
  const id = await importRun(home, ["orders", "import", writeInto(home, "o.csv", header + row("1") + row("2"))]);
  const { exitCode, stderr } = await home.run(["imports", "undo", id, "--yes"]);
  expect(exitCode).toBe(0);
  expect(stderr).toMatch(/\b2 rows .*, 0 kept, 0 /);
  const shown = await home.run(["imports", "show", id]);
  expect(shown.stderr).toMatch(/\b2 rows /);
});

test("`imports show` repeats what an import reported about its rows", async () => {
  const home = homes.open();
  const header = "order_id,order_date,customer_name,email,product_id,product_name,product_url\n";
  const row = (id: string, name: string) => `${id},2026-01-02,Ada,ada@x.example,mug,${name},https://x.example/mug\n`;
  const path = writeInto(home, "o.csv", header + row("1", "Blue mug") + row("2", "Red mug"));
  const id = await importRun(home, ["orders", "import", path]);
  const { stderr } = await home.run(["imports", "show", id]);
  expect(stderr).toMatch(/1 product has several names: mug \(Blue mug; Red mug\)/);
});

test("few reverted rows are listed by address; many are only counted, except with --verbose", async () => {
  const home = homes.open();
  const few = writeInto(home, "few.csv", "email\nu1@x.example\nu2@x.example\n");
  const one = await importRun(home, ["unsubscribers", "import", few, "--type", "1"]);
  const ofFew = await home.run(["imports", "undo", one, "--yes"]);
  expect(ofFew.stdout).toMatch(/ 2 +u1@x\.example \(type 1\) +reversed .*\n.* 3 +u2@x\.example \(type 1\) /);
  const emails = Array.from({ length: 30 }, (_, at) => `n${at}@x.example\n`).join("");
  const many = writeInto(home, "many.csv", `email\n${emails}`);
  const two = await importRun(home, ["unsubscribers", "import", many, "--type", "1"]);
  const ofMany = await home.run(["imports", "undo", two, "--yes"]);
  expect(ofMany.stdout).toBe("");
  expect(ofMany.stderr).toMatch(/\b30 rows /);
  const three = await importRun(home, ["unsubscribers", "import", many, "--type", "1"]);
  const result = await home.run(["imports", "undo", three, "--yes", "--verbose"]);
  expect(result.stdout.trim().split("\n")).toHaveLength(31);
});

test("reviews are identified by product, address, and title", async () => {
  const home = homes.open();
  const header =
    "review_title,review_content,review_score,date,product_id,display_name,email,product_url,product_title\n";
  const row = "Fine,Holds tea well,5,2026-01-02,mug,Ada,ada@x.example,https://x.example/mug,Mug\n";
  const id = await importRun(home, ["reviews", "import", writeInto(home, "r.csv", header + row)]);
  const { data } = await home.json<{ rows: { key: string }[] }>(["imports", "undo", id, "--yes"]);
  expect(data.rows.map(({ key }) => key)).toEqual(["mug · ada@x.example · Fine"]);
});

test("a sync lists its runs, and `imports list` shows its ID", async () => {
  const home = homes.open();
  const list = writeInto(home, "list.csv", "email\na@x.example\n");
  const { stderr } = await home.run(["unsubscribers", "sync", list, "--type", "1"]);
  const [, sync = ""] = /sync (\S+)\.$/m.exec(stderr) ?? [];
  const [, run = ""] = /imports show (\S+)$/m.exec(stderr) ?? [];
  const listed = await home.run(["imports", "list"]);
  expect(listed.stdout).toMatch(new RegExp(`${run}.*sync ${sync} \\(added\\)`));
  expect(listed.stdout).not.toContain("added.csv");
  const { data } = await home.json<{ import_id: string; files: string[] }[]>(["imports", "list"]);
  expect(data).toMatchObject([{ import_id: run, files: [expect.stringMatching(/added\.csv$/)] }]);
});
