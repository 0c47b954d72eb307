// Finds the files of src/ that the build and `npm run dev` bundle.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");

/** The main file, and the files that start a thread or a process. */
export async function findEntryPoints() {
  const files = await readdir(join(root, "src"), { recursive: true });
  const entryPoints = [];
  for (const file of files.filter((name) => name.endsWith(".ts"))) {
    const text = await readFile(join(root, "src", file), "utf8");
    const isThread = /\bparentPort\b.*from "node:worker_threads"/.test(text);
    const isProcess = file.endsWith("-process.ts") || /\bprocess\.disconnect\(/.test(text);
    if (isThread || isProcess) entryPoints.push(file);
  }
  return ["main.ts", ...entryPoints].map((file) => `src/${file}`);
}
