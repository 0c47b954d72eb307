// Writes the man page, dist/man/starpost.1, from the same data as --help.
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { importSource } from "./generated-modules.js";

const root = join(import.meta.dirname, "..");
const folder = join(root, "dist/man");

await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
const { writeManPage } = await importSource("src/cli/program/help/man-page.ts");
const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
await writeFile(join(folder, "starpost.1"), await writeManPage(version));
