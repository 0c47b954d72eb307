// Writes the man page, dist/man/starpost.1, from the same data as --help.
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
const { writeManPage } = await import(pathToFileURL(writer).href);
const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
await writeFile(join(folder, "starpost.1"), await writeManPage(version));
await rm(writer);
