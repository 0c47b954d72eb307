// Builds dist/ from src/: each import() and each thread starts a file of its own, so a command loads only what it uses.
import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import { basename, join, sep } from "node:path";
import { build, transform } from "esbuild";
import { findEntryPoints } from "./.ci/entry-points.js";
import { generatedModules } from "./.ci/generated-modules.js";
import { writeNotices } from "./.ci/notices.js";

const root = import.meta.dirname;
const dist = join(root, "dist");

/** Stands in for `import.meta.url`, which CommonJS does not have. */
const fileUrl = "__fileUrl";

/** After splitting, a CommonJS package exports only `default`; this adds its named exports. */
const namedExports =
  "for(const name of Object.keys(module.exports.default))if(!(name in module.exports))module.exports[name]=module.exports.default[name];\n";

/** Packages with native code; Node loads them from node_modules. */
const nativePackages = ["@napi-rs/keyring", "@photostructure/sqlite", "sharp"];

/** Bundles all other packages. */
async function bundle() {
  return build({
    absWorkingDir: root,
    entryPoints: await findEntryPoints(),
    entryNames: "[name]",
    chunkNames: "[name]-[hash]",
    outdir: dist,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    define: { "import.meta.url": fileUrl },
    external: nativePackages,
    plugins: [generatedModules, withoutUnused],
    legalComments: "none",
    logLevel: "warning",
    metafile: true,
    write: false,
  });
}

/**
 * Modules that packages import for what starpost does not use: commander for subcommands that are executables; conf for
 * schemas, migrations, and its default folder. They take long to load, and the folder fails for a user without a home.
 */
const unusedModules = {
  commander: /^node:child_process$/,
  conf: /^(ajv\/dist\/2020\.js|ajv-formats|env-paths|semver)$/,
};

const withoutUnused = {
  name: "without-unused",
  setup({ onResolve, onLoad }) {
    for (const [name, filter] of Object.entries(unusedModules)) {
      const folder = join(root, "node_modules", name) + sep;
      onResolve({ filter }, ({ path, importer }) =>
        importer.startsWith(folder) ? { path, namespace: "empty" } : undefined,
      );
    }
    onLoad({ filter: /.*/, namespace: "empty" }, () => ({ contents: "module.exports = {};" }));
  },
};

/** esbuild copies all exports into an object of their own; marking the exports instead spares a getter for each. */
const markExports = (code) =>
  code.replace(/module\.exports=__toCommonJS\((\w+)\)/, 'module.exports=__defProp($1,"__esModule",{value:!0})');

/** esbuild can only split ES modules, but Node loads CommonJS faster. */
async function toCommonJs({ path, text }) {
  const { code, warnings } = await transform(text, {
    sourcefile: basename(path),
    format: "cjs",
    platform: "node",
    target: "node20.19",
    supported: { "dynamic-import": false },
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: "none",
  });
  if (warnings.length > 0) throw new Error(`${path}: ${warnings[0].text}`);
  const url = text.includes(fileUrl) ? `const ${fileUrl}=require("node:url").pathToFileURL(__filename).href;` : "";
  const names = /^export default require_\w+\(\);$/m.test(text) ? namedExports : "";
  return { path, code: `"use strict";${url}${markExports(code)}${names}` };
}

async function write({ outputFiles, metafile }) {
  const files = await Promise.all(outputFiles.map(toCommonJs));
  await rm(dist, { recursive: true, force: true });
  await mkdir(dist, { recursive: true });
  await writeFile(join(dist, "package.json"), '{ "type": "commonjs" }\n');
  await Promise.all(files.map(({ path, code }) => writeFile(path, code)));
  await cp(join(root, "src/demo/assets"), join(dist, "demo"), { recursive: true });
  await writeNotices(root, metafile, join(dist, "THIRD-PARTY-NOTICES.txt"));
}

/** The source files that each file of dist/ contains. */
function listParts({ metafile: { outputs } }) {
  return Object.fromEntries(Object.entries(outputs).map(([path, { inputs }]) => [basename(path), Object.keys(inputs)]));
}

const result = await bundle();
// With --parts, prints the parts of each file and writes nothing.
if (process.argv.includes("--parts")) process.stdout.write(JSON.stringify(listParts(result)));
else await write(result);
