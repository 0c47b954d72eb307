// Keeps the scripts of the storefront elements of the version in package.json, which has just been published: pages that
// browsers have cached load them. Those of the two newest versions stay in src/shop/previous, and are served.
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { writeShopAssets } from "./shop-assets.js";
import { importSource } from "./generated-modules.js";

const keptVersions = 2;

const root = join(import.meta.dirname, "..");

/** @param folder with a folder for each version @returns the names of the versions that are kept, oldest first */
export async function keepElements(version, folder = join(root, "src/shop/previous")) {
  const { readCatalogs } = await importSource(".ci/messages.ts");
  const text = await writeShopAssets(readCatalogs(), folder);
  const { assets, bundles } = await import(`data:text/javascript,${encodeURIComponent(text)}`);
  await mkdir(join(folder, version), { recursive: true });
  for (const name of new Set(Object.values(bundles).flat())) {
    await writeFile(join(folder, version, name), gunzipSync(Buffer.from(assets[name].gzip, "base64")));
  }
  const entries = await readdir(folder, { withFileTypes: true });
  const versions = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const sorted = versions.toSorted((a, b) => a.localeCompare(b, "en", { numeric: true }));
  for (const old of sorted.slice(0, -keptVersions)) await rm(join(folder, old), { recursive: true });
  return sorted.slice(-keptVersions);
}

if (process.argv[1] === import.meta.filename) {
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  console.log(`src/shop/previous: ${(await keepElements(version)).join(", ")}`);
}
