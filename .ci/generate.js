// Writes the generated files that are committed: operation cards, the OpenAPI document, and the command pages.
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = join(import.meta.dirname, "..");
const bundle = join(root, "node_modules/.cache/generate.mjs");
const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));

/** Generates every file from the current sources and returns the paths of those that changed. */
async function generate(run) {
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
  const { generatedFolder, generateFiles } = await import(`${pathToFileURL(bundle).href}?run=${run}`);
  const files = await generateFiles(version);
  const changed = [];
  for (const name of await readdir(join(root, generatedFolder))) {
    const path = `${generatedFolder}/${name}`;
    if (files.has(path)) continue;
    await rm(join(root, path));
    changed.push(path);
  }
  for (const [path, text] of files) {
    const file = join(root, path);
    if ((await readFile(file, "utf8").catch(() => undefined)) === text) continue;
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
    changed.push(path);
  }
  return changed;
}

const changed = await generate(1);
// The command pages describe the operation cards, so new cards require a second run.
if (changed.some((path) => path.startsWith("src/"))) changed.push(...(await generate(2)));
for (const path of new Set(changed)) console.log(path);
