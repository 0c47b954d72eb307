import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Home } from "../support/starpost.ts";

const home = new Home();
const folder = mkdtempSync(join(tmpdir(), "starpost-start-"));
/** The sources that each file of dist/ holds. */
let parts: Readonly<Record<string, readonly string[]>>;

beforeAll(async () => {
  const { stdout } = await execa(process.execPath, [resolve("esbuild.config.js"), "--parts"]);
  parts = JSON.parse(stdout) as typeof parts;
  // So that the run that is looked at finds a store.
  expect((await home.run(["products", "list"])).exitCode).toBe(0);
});

afterAll(() => {
  home.remove();
  rmSync(folder, { recursive: true });
});

/** The sources that a run loads, those outside of dist/ by their paths. */
async function sourcesOf(args: readonly string[]): Promise<string[]> {
  const [told, hook] = [join(folder, "loaded.json"), join(folder, "hook.cjs")];
  writeFileSync(
    hook,
    `process.on("exit", () => require("node:fs").writeFileSync(${JSON.stringify(told)}, JSON.stringify(Object.keys(require.cache))));`,
  );
  const { exitCode } = await home.run(args, { env: { NODE_OPTIONS: `--require=${hook}` } });
  expect(exitCode).toBe(0);
  const files = JSON.parse(readFileSync(told, "utf8")) as string[];
  return files.flatMap((file) => parts[basename(file)] ?? [file]);
}

async function packagesOf(args: readonly string[]): Promise<string[]> {
  const sources = await sourcesOf(args);
  const found = sources.flatMap((file) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []);
  return [...new Set(found)].toSorted();
}

describe("a start", () => {
  it.each([["--version"], ["--help"]])("loads no package for %s", async (flag) => {
    expect(await packagesOf([flag])).toEqual([]);
  });

  it("loads what the help of a command needs: the parser", async () => {
    const packages = await packagesOf(["webhooks", "list", "--help"]);
    expect(packages).toContain("commander");
    expect(
      packages.filter((name) => ["kysely", "got", "conf", "fastify", "inquirer", "ora"].includes(name)),
    ).toEqual([]);
  });

  it("loads what a read of the embedded database needs, and nothing else", async () => {
    const packages = await packagesOf(["products", "list", "--json"]);
    expect(packages).toEqual(["@photostructure/sqlite", "commander", "kysely", "node-gyp-build", "zod"]);
  });

  it("loads the handlers of the call alone", async () => {
    const sources = await sourcesOf(["products", "list", "--json"]);
    expect(sources).toContain("src/engine/products/core.ts");
    expect(sources).not.toContain("src/engine/reviews/reviews.ts");
    expect(sources).not.toContain("src/engine/orders/orders.ts");
  });

  it("works if the compile cache cannot be written or is disabled", async () => {
    const settings = [
      ["NODE_COMPILE_CACHE", "/dev/null/cache"],
      ["NODE_DISABLE_COMPILE_CACHE", "1"],
    ] as const;
    for (const [name, value] of settings) {
      const env = { [name]: value };
      const { exitCode, stderr } = await home.run(["products", "list", "--json"], { env });
      expect([exitCode, stderr]).toEqual([0, ""]);
    }
  });
});
