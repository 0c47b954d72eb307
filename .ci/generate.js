// Writes the generated files that are committed: the OpenAPI document, and the command pages.
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { importSource } from "./generated-modules.js";

const root = join(import.meta.dirname, "..");
const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));

/** Writes files, and prints the paths of those that changed. */
async function write(files) {
  for (const [path, text] of files) {
    const file = join(root, path);
    if ((await readFile(file, "utf8").catch(() => undefined)) === text) continue;
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
    console.log(path);
  }
}

const { generatedFolder, generateFiles } = await importSource(".ci/generate/files.ts");
const files = await generateFiles(version);
for (const name of await readdir(join(root, generatedFolder))) {
  const path = `${generatedFolder}/${name}`;
  if (files.has(path)) continue;
  await rm(join(root, path));
  console.log(path);
}
await write(files);
