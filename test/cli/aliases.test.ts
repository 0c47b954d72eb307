import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { complete } from "../../src/cli/program/completion/complete.ts";
import { makeFolder, run } from "./support.ts";

let env: Record<string, string>;
let file: string;
beforeEach(() => {
  env = { STARPOST_HOME: makeFolder() };
  file = join(env["STARPOST_HOME"] ?? "", "aliases.json");
});

const set = (name: string, expansion: string) => run(["alias", "set", name, expansion], { env });
const completions = async (...words: string[]) =>
  (await complete({ env, cwd: "/" }, words)).candidates.map(({ value }) => value);

describe("alias", () => {
  test("set, list, and delete change the configuration", async () => {
    expect((await set("pl", "profile list")).status).toBe(0);
    expect((await set("ap", "api $1 '$2' --json")).status).toBe(0);
    const changed = await run(["alias", "set", "pl", "profile list --quiet", "--json"], { env });
    expect(JSON.parse(changed.stdout)).toEqual({
      alias: "pl",
      expansion: "profile list --quiet",
      replaced: "profile list",
    });
    const listed = await run(["alias", "list", "--json"], { env });
    expect(JSON.parse(listed.stdout)).toEqual([
      { alias: "ap", expansion: "api $1 '$2' --json" },
      { alias: "pl", expansion: "profile list --quiet" },
    ]);
    expect((await run(["alias", "delete", "pl"], { env })).status).toBe(0);
    expect((await run(["alias", "delete", "pl"], { env })).status).toBe(1);
    expect((await run(["pl"], { env })).status).toBe(2);
  });

  test("is replaced by its command, with the arguments", async () => {
    await set("pl", "profile list");
    await set("ap", `api $1 "/healthz?a=$2&b=x y$1" --no-auth`);
    const plain = await run(["profile", "list", "--json"], { env });
    expect(await run(["pl", "--json"], { env })).toEqual(plain);
    expect(await run(["--quiet", "--profile", "local", "pl", "--json"], { env })).toEqual(plain);
    await run(["init", "--local"], { env });
    const called = await run(["ap", "GET", "it's", "--curl"], { env });
    expect(called.stdout).toContain("/healthz?a=it%27s&b=x+yGET'");
    const missing = await run(["ap", "GET"], { env });
    expect(missing).toMatchObject({ status: 2, stdout: "" });
    expect(missing.stderr).toMatch(/needs 2 arguments, got 1/);
    expect((await run(["pl", "--help"], { env })).stdout).toContain("starpost profile list");
  });

  test("applies --redact in its expansion", async () => {
    await set("who", "api GET /starpost/v1/nowhere/ann@mail.example --redact");
    const { stderr, stdout } = await run(["who"], { env });
    expect(stderr + stdout).not.toContain("ann@");
  });

  test.each([
    ["products", "orders list"],
    ["help", "orders list"],
    ["ls", "orders list"],
    ["-x", "orders list"],
    ["a b", "orders list"],
    ["x", "nothing here"],
    ["x", ""],
    ["x", "!rm -rf"],
    ["x", "orders 'list"],
    ["x", "x"],
  ])("refuses %j for %j", async (name, expansion) => {
    expect((await run(["alias", "set", "--", name, expansion], { env })).status).toBe(2);
    expect((await run(["alias", "list", "--json"], { env })).stdout).toBe("[]\n");
  });

  test("never replaces a command, and reports an invalid file", async () => {
    await set("x", "profile list");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    writeFileSync(file, JSON.stringify({ aliases: { profile: "alias list", x: 3 } }));
    expect((await run(["profile", "list", "--json"], { env })).stdout).toContain('"name":"local"');
    expect((await run(["x"], { env })).status).toBe(2);
    writeFileSync(file, "{");
    expect((await run(["x"], { env })).stderr).toContain("aliases.json");
    expect((await run(["profile", "list"], { env })).status).toBe(0);
    expect(readFileSync(file, "utf8")).toBe("{");
  });
});

describe("completion", () => {
  test("offers aliases, and completes after them as after their commands", async () => {
    await set("pl", "profile list --quiet");
    await set("lim", "profile use $1 --format $2");
    expect(await completions("p")).toContain("pl");
    expect(await completions("l")).toEqual(["lim"]);
    expect(await completions("pl", "--col")).toEqual(["--columns"]);
    expect(await completions("pl", "--qui")).toEqual([]);
    expect(await completions("lim", "lo")).toEqual(["local"]);
    expect(await completions("lim", "local", "nd")).toEqual(["ndjson"]);
    expect(await completions("alias", "delete", "")).toEqual(["lim", "pl"]);
  });

  test("is silent about an invalid file", async () => {
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, "{");
    expect(await completions("prof")).toEqual(["profile"]);
  });
});

test("help finds aliases, and commands by their verb", async () => {
  const own = { env: { STARPOST_HOME: makeFolder() } };
  await run(["alias", "set", "bad", "reviews list --product $1 --limit 20"], own);
  const { stdout } = await run(["help", "bad"], own);
  expect(stdout).toContain("reviews list --product $1");
  expect(stdout).toContain("USAGE\n  starpost reviews list");
  expect((await run(["help", "erase"], own)).stdout).toContain("USAGE\n  starpost customers erase");
  const { stdout: deleting } = await run(["help", "delete"], own);
  expect(deleting).toMatch(/^ {2}webhooks delete +\S/m);
  expect((await run(["help", "nothing"], own)).status).toBe(2);
});
