// Writes the generated files that are committed: operation cards, the OpenAPI document, and the command pages.
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = join(import.meta.dirname, "..");
const bundle = join(root, "node_modules/.cache/generate.mjs");
const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));

/** Bundles the generator from the current sources. */
async function loadGenerator(run) {
  await build({
    absWorkingDir: root,
    entryPoints: [".ci/generate/files.ts"],
    outfile: bundle,
    bundle: true,
    packages: "external",
    format: "esm",
    platform: "node",
    target: "node20.19",
    logLevel: "warning",
  });
  return import(`${pathToFileURL(bundle).href}?run=${run}`);
}

/** Writes files, and prints the paths of those that changed. */
async function write(files) {
  let hasChanged = false;
  for (const [path, text] of files) {
    const file = join(root, path);
    if ((await readFile(file, "utf8").catch(() => undefined)) === text) continue;
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
    console.log(path);
    hasChanged = true;
  }
  return hasChanged;
}

let generator = await loadGenerator(1);
// Commands of new operations need their cards.
if (await write(generator.generateCards())) generator = await loadGenerator(2);
const { generatedFolder } = generator;
const files = await generator.generateFiles(version);
for (const name of await readdir(join(root, generatedFolder))) {
  const path = `${generatedFolder}/${name}`;
  if (files.has(path)) continue;
  await rm(join(root, path));
  console.log(path);
}
await write(files);
