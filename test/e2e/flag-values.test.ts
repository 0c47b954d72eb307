import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Flag } from "../../src/cli/program/flag.ts";
import { loadCommands, runBuilt } from "../support/built-program.ts";
import { commandLineOf, stockHome } from "../support/command-lines.ts";
import { type Home, Homes } from "../support/starpost.ts";

const commands = await loadCommands();

const times = new Set(["since-date", "since-updated-at", "updated-at-min", "order-date"]);
const numbers = /^<(?:n|n%|n\|n%|id|seconds|age|day|calls per second)>$/;

/** Whether a flag accepts only numbers, times, or the values of a list. */
function isLimited([name, { value = "", values }]: readonly [string, Flag]): boolean {
  // Any text can be the ID of a product.
  if (name === "product") return false;
  // The names of some encodings and categories are not listed.
  return times.has(name) || numbers.test(value) || (Array.isArray(values) && name !== "encoding" && name !== "layout");
}

const limited = commands.flatMap((command) =>
  Object.entries(command.flags ?? {})
    .filter(([, { value }]) => value !== undefined)
    .filter((flag) => isLimited(flag))
    .map(([name]) => [`${command.name} --${name}`, command, name] as const),
);
const counted = limited.filter(([, , name]) => ["limit", "count", "page", "size"].includes(name));

let stock: Awaited<ReturnType<typeof stockHome>>;
const homes = new Homes();
let home: Home;
beforeAll(async () => {
  stock = await stockHome();
  home = homes.open();
  await home.run(["orders", "import", "fixtures/good/orders.csv"]);
});
afterAll(() => {
  stock.remove();
  homes.remove();
});

async function expectRefused(command: (typeof commands)[number], flag: string, value: string): Promise<void> {
  const line = commandLineOf(command);
  if (!line) throw new Error("the command is not listed");
  const given = line.words(stock);
  const at = given.indexOf(`--${flag}`);
  const words = [...command.name.split(" "), ...(at === -1 ? given : given.toSpliced(at, 2)), `--${flag}`, value];
  const { status, stdout, stderr } = await runBuilt(words, { env: { STARPOST_HOME: stock.folder, CI: "true" } });
  expect({ status, stdout, stderr }).toEqual({ status: 2, stdout: "", stderr: expect.stringContaining(`--${flag}`) });
}

describe("an invalid value ends with 2 and names the flag:", () => {
  test("covers the flags of lists", () => {
    const names = limited.map(([name]) => name);
    for (const name of [
      "orders list --limit",
      "orders list --since-date",
      "mail list --state",
      "reviews list --count",
    ]) {
      expect(names).toContain(name);
    }
  });

  test.each(limited)("%s nonsense", async (_, command, flag) => {
    await expectRefused(command, flag, "nonsense");
  });

  test.each(counted)("%s 0", async (_, command, flag) => {
    await expectRefused(command, flag, "0");
  });
});

describe("lists", () => {
  const ids = async (...words: string[]) =>
    (await home.json<{ id: number }[]>(["orders", "list", ...words])).data.map(({ id }) => id);

  test("begin after --since-id, whatever the limit and the page size", async () => {
    const all = await ids();
    expect(all.length).toBeGreaterThan(5);
    expect(await ids("--since-id", "2", "--limit", "1")).toEqual([3]);
    expect(await ids("--since-id", "2", "--limit", "2", "--count", "1")).toEqual([3, 4]);
    expect(await ids("--since-id", "2", "--count", "1")).toEqual(all.filter((id) => id > 2));
    expect(await ids("--limit", "3", "--count", "1")).toEqual(all.slice(0, 3));
    const { data } = await home.json<{ id: number }[]>([
      "api",
      "GET",
      "/apps/{app_key}/purchases?since_id=2",
      "--paginate",
      "--limit",
      "1",
    ]);
    expect(data.map(({ id }) => id)).toEqual([3]);
  });

  test("read the details that a column needs", async () => {
    const listed = await home.run("orders list --limit 1 --columns id,currency_iso --format csv".split(" "));
    expect(listed.stdout).toBe("id,currency_iso\n1,EUR");
    const without = "orders list --limit 1 --columns id,currency_iso --no-details --format csv".split(" ");
    expect((await home.run(without)).stdout).toBe("id,currency_iso\n1,");
  });

  test("suggest a column for an unknown one, before they read anything", async () => {
    const { exitCode, stdout, stderr } = await home.run(["orders", "list", "--columns", "id,order_dat"]);
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/Did you mean order_date\?/);
  });
});

test.each([[[]], [["--profile", "shop"]]])(
  "the command that a stopped import with %j prints continues it",
  async (profile) => {
    const own = homes.open();
    await own.run(["profile", "add", "shop", "--database", join(own.folder, "shop.db")]);
    const file = join(own.folder, "p.csv");
    const row = (id: number, name = "Pot") => `${id},${name},https://shop.example/${id}\n`;
    writeFileSync(file, `product_id,name,url\n${row(1, "")}${row(2)}${row(3, "")}${row(4)}`);
    const stopped = await own.run(["products", "import", file, "--max-errors", "1", ...profile]);
    expect(stopped.exitCode).toBe(6);
    const [, words = ""] = /run:\s+starpost\s+(imports\s+resume\s[^\n]+)/.exec(stopped.stderr) ?? [];
    expect(words).toContain("--max-errors");
    const again = await own.run(["products", "import", file, "--max-errors", "1", ...profile]);
    expect(again.stderr).toContain(words.split(/\s+/).slice(0, 3).join(" "));
    const resumed = await own.json(words.trim().split(/\s+/));
    expect([resumed.exitCode, resumed.data.state, resumed.data.rows.accepted]).toEqual([3, "finished", 2]);
  },
);
