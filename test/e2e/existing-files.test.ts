import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadCommands, runBuilt } from "../support/built-program.ts";
import { commandLineOf, stockHome } from "../support/command-lines.ts";
import { sample } from "../support/suite-size.ts";

const commands = await loadCommands();

/** Flags with a file that the command only reads, or appends to. */
const inputs: ReadonlySet<string> = new Set(
  "mapping input file identity image-file log-file logo decisions sealing-key tls-cert tls-key".split(" "),
);

const cases = commands.flatMap((command) =>
  Object.entries(command.flags ?? {})
    .filter(([name, { value }]) => ["<file>", "<path>"].includes(value ?? "") && !inputs.has(name))
    .map(([name]) => [`${command.name} --${name}`, command, name] as const),
);

let stock: Awaited<ReturnType<typeof stockHome>>;
beforeAll(async () => {
  stock = await stockHome();
});
afterAll(() => stock.remove());

const mine = "not a file of starpost\n";

describe("without a terminal and without --yes, never overwrites a file:", () => {
  /** Those of which the written file is tested, too. */
  const written = new Set(sample(cases, { offset: 0, step: 3 }).map(([title]) => title));
  test.each(cases)("%s", async (title, command, flag) => {
    const line = commandLineOf(command);
    if (!line) throw new Error("the command is not listed");
    stock.renew();
    const existing = join(stock.folder, "existing");
    const given = line.words(stock).filter((word) => word !== "--yes");
    const at = given.indexOf(`--${flag}`);
    const words = [...command.name.split(" "), ...(at === -1 ? given : given.toSpliced(at, 2)), `--${flag}`];
    const env = { STARPOST_HOME: stock.folder, CI: "true" };
    const run = (file: string, ...more: string[]) => runBuilt([...words, file, "--json", ...more], { env });
    writeFileSync(existing, mine);
    const refused = await run(existing);
    expect(refused).toMatchObject({ status: 2, stdout: "" });
    expect(refused.stderr).toContain("--yes");
    expect(readFileSync(existing, "utf8")).toBe(mine);
    if (!written.has(title)) return;
    const fresh = await run(join(stock.folder, "fresh"));
    expect(fresh.status).not.toBe(2);
    stock.renew();
    writeFileSync(existing, mine);
    expect((await run(existing, "--yes")).status).toBe(fresh.status);
  });
});

test("writes to standard output and to devices without asking", async () => {
  stock.renew();
  const env = { STARPOST_HOME: stock.folder, CI: "true" };
  for (const out of ["-", "/dev/null"]) {
    expect((await runBuilt(["products", "export", "--out", out], { env })).status).toBe(0);
  }
});

test("a resumed run replaces its own rejects, and applying a plan asks before it replaces a file", async () => {
  stock.renew();
  const env = { STARPOST_HOME: stock.folder, CI: "true" };
  const path = (name: string) => join(stock.folder, name);
  const run = async (...words: string[]) => (await runBuilt(words, { env })).status;
  const row = (id: number, name = "Pot") => `${id},${name},https://shop.example/${id}\n`;
  writeFileSync(path("p.csv"), `product_id,name,url\n${row(1, "")}${row(2)}${row(3, "")}`);
  const rejects = ["--rejects", path("rejects.csv")];
  const { stdout } = await runBuilt(["products", "import", path("p.csv"), "--max-errors", "0", ...rejects, "--json"], {
    env,
  });
  const { import_id: id } = JSON.parse(stdout) as { import_id: string };
  const after = () => readFileSync(path("rejects.csv"), "utf8").trim().split("\n").length;
  expect(after()).toBeGreaterThan(1);
  expect(await run("imports", "resume", id, "--max-errors", "9")).toBe(3);
  expect(after()).toBe(3);
  const plan = ["products", "plan", path("p.csv"), "--out", path("p.json"), "--rejects", path("other.csv")];
  expect(await run(...plan)).toBe(3);
  expect(await run("imports", "apply", path("p.json"))).toBe(2);
  expect(await run("imports", "apply", path("p.json"), "--yes")).toBe(3);
});
