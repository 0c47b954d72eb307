import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Home } from "../support/starpost.ts";
import { tinyPng } from "../support/photos.ts";

const home = new Home();
const folder = mkdtempSync(join(tmpdir(), "starpost-start-"));
/** The source files bundled into each file of dist/. */
let parts: Readonly<Record<string, readonly string[]>>;

beforeAll(async () => {
  const { stdout } = await execa(process.execPath, [resolve("esbuild.config.js"), "--parts"]);
  parts = JSON.parse(stdout) as typeof parts;
  // So that the observed run finds a database.
  await home.init();
});

afterAll(() => {
  home.remove();
  rmSync(folder, { recursive: true });
});

/** The source files that a run loads; files outside of dist/ as paths. */
async function sourcesOf(args: readonly string[]): Promise<string[]> {
  const [output, hook] = [join(folder, "loaded.json"), join(folder, "hook.cjs")];
  writeFileSync(
    hook,
    `process.on("exit", () => require("node:fs").writeFileSync(${JSON.stringify(output)}, JSON.stringify(Object.keys(require.cache))));`,
  );
  const { exitCode } = await home.run(args, { env: { NODE_OPTIONS: `--require=${hook}` } });
  expect(exitCode).toBe(0);
  const files = JSON.parse(readFileSync(output, "utf8")) as string[];
  return files.flatMap((file) => parts[basename(file)] ?? [file]);
}

async function packagesOf(args: readonly string[]): Promise<string[]> {
  const sources = await sourcesOf(args);
  const found = sources.flatMap((file) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []);
  return [...new Set(found)].toSorted();
}

describe("startup", () => {
  it.each([["--version"], ["--help"]])("loads no package for %s", async (flag) => {
    expect(await packagesOf([flag])).toEqual([]);
  });

  it("loads only the parser for the help of a command", async () => {
    const packages = await packagesOf(["webhooks", "list", "--help"]);
    expect(packages).toContain("commander");
    expect(packages.filter((name) => ["kysely", "got", "fastify", "inquirer", "ora"].includes(name))).toEqual([]);
  });

  it("loads only what reading the embedded database requires", async () => {
    const packages = await packagesOf(["products", "list", "--json"]);
    expect(packages).toEqual(["@photostructure/sqlite", "commander", "kysely", "node-gyp-build", "zod"]);
  });

  it("loads only the handlers of the called operation", async () => {
    const sources = await sourcesOf(["products", "list", "--json"]);
    expect(sources).toContain("src/engine/products/core.ts");
    expect(sources).not.toContain("src/engine/reviews/reviews.ts");
    expect(sources).not.toContain("src/engine/orders/orders.ts");
  });

  it("never loads the codec of photos, which has its own process", async () => {
    const created = ["reviews", "create", "--input", join(folder, "review.json"), "--json"];
    const review = { sku: "pot", product_title: "Pot", product_url: "https://shop.example/pot", display_name: "Ann" };
    const texts = { email: "ann@mail.example", review_title: "Good", review_content: "Good", review_score: 5 };
    writeFileSync(join(folder, "review.json"), JSON.stringify({ ...review, ...texts }));
    expect(await packagesOf(created)).not.toContain("sharp");
    const { data } = await home.json<{ image_upload_token: string }>(created);
    writeFileSync(join(folder, "photo.png"), Buffer.from(tinyPng, "base64"));
    const flags = ["--image-upload-token", data.image_upload_token, "--image-file", join(folder, "photo.png")];
    expect(await packagesOf(["images", "upload", ...flags])).not.toContain("sharp");
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
