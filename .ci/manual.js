// Makes the pages for `man`, of what the help is made of, into dist/man.
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = join(import.meta.dirname, "..");
const folder = join(root, "dist/man");
const writer = join(folder, "writer.mjs");

await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
await build({
  absWorkingDir: root,
  entryPoints: ["src/cli/program/help/man-page.ts"],
  outfile: writer,
  bundle: true,
  packages: "external",
  format: "esm",
  platform: "node",
  target: "node20.19",
  logLevel: "warning",
});
const { writeManual } = await import(pathToFileURL(writer).href);
const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
const pages = await writeManual(version);
await Promise.all([...pages].map(([name, text]) => writeFile(join(folder, name), text)));
await rm(writer);
