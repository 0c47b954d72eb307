// Runs starpost from the sources: `npm run dev -- <command>`. Bundles them in a moment, because packages stay as they are.
import { copyFile, cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build, stop } from "esbuild";
import { findEntryPoints } from "./entry-points.js";
import { generatedModules } from "./generated-modules.js";

const root = join(import.meta.dirname, "..");
const folder = join(root, "node_modules/.cache/starpost-dev");

await mkdir(folder, { recursive: true });
// The program reads its version there.
await copyFile(join(root, "package.json"), join(folder, "package.json"));
await cp(join(root, "src/demo/assets"), join(folder, "dist/demo"), { recursive: true });
// Files of earlier runs stay, because a server may still load them.
await build({
  absWorkingDir: root,
  entryPoints: await findEntryPoints(),
  entryNames: "[name]",
  chunkNames: "[name]-[hash]",
  outdir: join(folder, "dist"),
  bundle: true,
  splitting: true,
  packages: "external",
  format: "esm",
  platform: "node",
  target: "node20.19",
  plugins: [generatedModules],
  sourcemap: "linked",
  logLevel: "warning",
});
await stop();
await import(pathToFileURL(join(folder, "dist/main.js")).href);
