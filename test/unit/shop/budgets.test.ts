import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { keepElements } from "../../../.ci/keep-elements.js";
import { writeShopAssets } from "../../../.ci/shop-assets.js";
import { languages } from "../../../src/contract/brand/brand.ts";
import { sources } from "../../../src/messages/sources.ts";
import { assets, bundles, loader } from "../../../src/shop/assets.ts";

const bytesOf = (base64: string) => Buffer.from(base64, "base64");

/** The compressed size of files, each counted once, in bytes. */
const sizeOf = (names: readonly string[]) =>
  [...new Set(names)].map((name) => bytesOf(assets[name]?.gzip ?? "").length).reduce((sum, size) => sum + size, 0);

const filesOf = (...names: readonly string[]) => names.flatMap((name) => bundles[name] ?? []);

/** What all elements but the rating share. */
const shared = filesOf("loader", "rating", "reviews");

const elements = Object.keys(bundles).filter((name) => !(languages as readonly string[]).includes(name));

/** Everything that an element loads until it has been used, except what it shares; also what the first photo of a form loads. */
const budgeted = {
  form: ["review-form", "review-fields", "form"],
  photo: ["form-photos"],
  questions: ["questions", "form"],
  gallery: ["photos", "lightbox"],
  carousel: ["carousel"],
} as const;

describe("elements", () => {
  it("stay within their budgets (gzip)", () => {
    expect(sizeOf(filesOf("loader"))).toBeLessThanOrEqual(1_000);
    expect(sizeOf(filesOf("loader", "rating"))).toBeLessThanOrEqual(4_000);
    expect(sizeOf(shared)).toBeLessThanOrEqual(12_000);
    for (const [name, parts] of Object.entries(budgeted)) {
      const own = filesOf(...parts).filter((file) => !shared.includes(file));
      expect(sizeOf(own), name).toBeGreaterThan(1_000);
      expect(sizeOf(own), name).toBeLessThanOrEqual(4_000);
    }
    // Nothing else is loaded.
    const all = ["loader", "rating", "reviews", ...Object.values(budgeted).flat()];
    expect([...new Set(all)].toSorted()).toEqual(elements.toSorted());
    for (const language of languages) {
      expect(sizeOf(filesOf(language)), language).toBeLessThanOrEqual(3_000);
      expect(sizeOf(filesOf(...elements, language)), language).toBeLessThanOrEqual(32_000);
    }
  });

  it("import only files that exist, and have a hash in their names", () => {
    for (const [name, { gzip }] of Object.entries(assets)) {
      expect(name).toMatch(/^[\w-]+-[A-Z0-9]{8}\.js$/);
      const text = gunzipSync(bytesOf(gzip)).toString("utf8");
      for (const [, imported] of text.matchAll(/"\.\/([^"]+\.js)"/g)) expect(assets).toHaveProperty([imported ?? ""]);
    }
  });

  it("are found by the loader in the folder below its URL", () => {
    const text = gunzipSync(bytesOf(loader.gzip)).toString("utf8");
    const imports = [...text.matchAll(/import\("([^"]+)"\)/g)].map(([, path]) => path ?? "");
    expect(imports.length).toBeGreaterThan(2);
    for (const path of imports) expect(assets).toHaveProperty([path.replace("./elements/", "")]);
  });
});

it("serve the files of the two previous versions", async () => {
  const folder = await mkdtemp(join(tmpdir(), "starpost-previous-"));
  try {
    for (const version of ["0.9.0", "0.10.0"]) {
      await mkdir(join(folder, version));
      await writeFile(
        join(folder, version, `loader-0${version.replaceAll(".", "")}ABCD.js`),
        `export default "${version}";`,
      );
    }
    expect(await keepElements("0.11.0", folder)).toEqual(["0.10.0", "0.11.0"]);
    const text = await writeShopAssets(sources, folder);
    const built = (await import(
      `data:text/javascript,${encodeURIComponent(text)}`
    )) as typeof import("../../../src/shop/assets.ts");
    // Those of 0.11.0 are the current ones.
    expect(Object.keys(built.assets).toSorted()).toEqual([...Object.keys(assets), "loader-00100ABCD.js"].toSorted());
    expect(built.assets).toMatchObject(assets);
    const kept = gunzipSync(bytesOf(built.assets["loader-00100ABCD.js"]?.gzip ?? "")).toString("utf8");
    expect(kept).toBe('export default "0.10.0";');
    expect(built.loader).toEqual(loader);
  } finally {
    await rm(folder, { recursive: true });
  }
});
