import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Home, Homes } from "../support/starpost.ts";
import { splitWords } from "../support/command-lines.ts";
import { tableOfRuns } from "../../src/cli/commands/records/import-view.ts";
import { noPaint } from "../../src/terminal/colors.ts";
import { formatTable } from "../../src/terminal/text-table.ts";
import type { ImportSummary } from "../../src/import/summary.ts";

const homes = new Homes();
let home: Home;
beforeAll(async () => {
  home = homes.open();
  await home.run(["orders", "import", "fixtures/good/orders.csv", "--send-mail"]);
  const review =
    "--sku lamp_03 --product-title Lamp --display-name Ann --email ann@mail.example --review-content Bright --review-title Good --review-score 5";
  await home.run(["api", "reviews.createNow", ...splitWords(review)]);
});
afterAll(() => homes.remove());

test("a hidden review is reported as hidden, with a command that shows it", async () => {
  expect((await home.run(["reviews", "get", "1"])).exitCode).toBe(0);
  await home.run(["reviews", "hide", "1"]);
  const hidden = await home.run(["reviews", "get", "1"]);
  expect([hidden.exitCode, hidden.stderr]).toEqual([1, expect.stringMatching(/is hidden/)]);
  const [, words = ""] = /`starpost (reviews list [^`]+)`/.exec(hidden.stderr.replaceAll(/\s+/g, " ")) ?? [];
  const listed = await home.json<{ id: number }[]>(words.split(" "));
  expect(listed.data.map(({ id }) => id)).toEqual([1]);
  const missing = await home.run(["reviews", "get", "99"]);
  expect([missing.exitCode, missing.stderr]).toEqual([1, expect.not.stringMatching(/hidden/)]);
});

test("emails that are already canceled are not canceled again", async () => {
  const unconfirmed = ["mail", "cancel", "1001"];
  expect((await home.run(unconfirmed)).exitCode).toBe(2);
  expect((await home.run([...unconfirmed, "--yes"])).exitCode).toBe(0);
  expect((await home.run(unconfirmed)).exitCode).toBe(0);
  const { data } = await home.json<{ id: number; order_id: string }[]>(["mail", "list"]);
  const other = String(data.find(({ order_id: id }) => id === "1002")?.id);
  expect((await home.run(["mail", "cancel", "--email-id", other, "--yes"])).exitCode).toBe(0);
  const again = await home.json<{ mail: { state: string } }>(["mail", "cancel", "--email-id", other]);
  expect([again.exitCode, again.data.mail.state]).toEqual([0, "not_sent"]);
});

describe("opposite flags", () => {
  test.each([
    ["profile", "set", "shop", "--live", "--no-live"],
    ["profile", "set", "shop", "--no-live", "--live"],
    ["orders", "list", "--details", "--no-details"],
  ])("%s %s %s %s %s are refused together", async (...words) => {
    const ran = await home.run(words.filter((word) => word !== undefined));
    expect([ran.exitCode, ran.stderr]).toEqual([2, expect.stringMatching(/--(\w+) and --no-\1/)]);
  });
});

test("a sync prints commands that work", async () => {
  const file = join(home.folder, "u.csv");
  writeFileSync(file, "email\na@mail.example\n");
  const { stderr } = await home.run(["unsubscribers", "sync", file, "--type", "1"]);
  const commands = [...stderr.matchAll(/run: starpost (imports \w+ \S+)/g)].map(([, words = ""]) => words.split(" "));
  expect(commands.map(([, verb]) => verb)).toEqual(["show", "undo"]);
  for (const words of commands) expect((await home.run([...words, "--yes"])).exitCode).toBe(0);
});

test("times of webhooks are marked as UTC", async () => {
  await home.run(["webhooks", "create", "https://hook.example/x"]);
  await home.run(["webhooks", "trigger", "review_create"]);
  expect((await home.run(["webhooks", "deliveries"])).stdout).toMatch(/\d{4}-\d\d-\d\d \d\d:\d\dZ/);
});

test("the list of imports shows complete states at 80 columns", () => {
  const rows = { read: 12_345_678, accepted: 12_345_678, rejected: 0, failed: 0 };
  const run = {
    import_id: "20260131-094500-3f2a1c",
    kind: "unsubscribers",
    files: ["/home/ann/exports/list.csv"],
    rows,
  };
  const runs = [{ ...run, state: "interrupted", started_at: "" }] as unknown as ImportSummary[];
  const table = stripVTControlCharacters(formatTable(tableOfRuns(runs), 80, noPaint));
  expect(table.split("\n")[1]).toContain("interrupted");
  expect(table).toContain(run.import_id);
  for (const line of table.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
});
