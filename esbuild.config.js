// Makes dist/ of src/: one file for what belongs together, another for each import() and each thread, so that a start
// reads few files and only those that its command uses.
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { build, transform } from "esbuild";
import { compileAhead } from "./.ci/compile-ahead.js";
import { writeNotices } from "./.ci/notices.js";
import { packFiles, placeFiles } from "./.ci/pack.js";

const root = import.meta.dirname;
const dist = join(root, "dist");

/** Named for `import.meta.url`, which CommonJS does not have. */
const ownUrl = "__ownUrl";

/** Files of dist/ that hold what is loaded together: for the first help, for any command, and by a read of the embedded database. */
const packs = {
  "help.js": ["src/cli/program/help/overview.ts"],
  "command.js": [
    "src/cli/program/program.ts",
    "src/cli/program/context.ts",
    "src/cli/program/output/messages.ts",
    "src/cli/program/flag-values.ts",
    "src/cli/commands/operations/thin-commands.ts",
  ],
  "read.js": [
    "src/cli/commands/operations/run.ts",
    "src/cli/commands/operations/input-file.ts",
    "src/cli/program/output/print.ts",
    "src/config/profile.ts",
    "src/terminal/write-rows.ts",
    "src/app/app.ts",
    "src/storage/database.ts",
    "src/storage/sqlite/driver.ts",
    "src/engine/accounts/first-account.ts",
    "src/engine/local-transport.ts",
    "src/engine/kernel/sealer.ts",
    "src/engine/kernel/storage-errors.ts",
    "src/engine/products/core.ts",
  ],
};

const partsOfDefault =
  "for(const name of Object.keys(module.exports.default))if(!(name in module.exports))module.exports[name]=module.exports.default[name];\n";

/** Files that a process or a thread begins with. */
async function findEntryPoints() {
  const files = await readdir(join(root, "src"), { recursive: true });
  const sources = files.filter((file) => file.endsWith(".ts"));
  const begun = [];
  for (const file of sources) {
    const text = await readFile(join(root, "src", file), "utf8");
    const isThread = /\bparentPort\b.*from "node:worker_threads"/.test(text);
    const isProcess = file.endsWith("-process.ts") || /\bprocess\.disconnect\(/.test(text);
    if (isThread || isProcess) begun.push(file);
  }
  return ["main.ts", ...begun].map((file) => `src/${file}`);
}

/** What package.json has among its dependencies is loaded from there; all else that is used is made part of dist/. */
async function bundle() {
  const { dependencies = {}, optionalDependencies = {} } = JSON.parse(
    await readFile(join(root, "package.json"), "utf8"),
  );
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
    define: { "import.meta.url": ownUrl },
    external: [...Object.keys(dependencies), ...Object.keys(optionalDependencies)],
    plugins: [withoutChildProcess],
    legalComments: "none",
    logLevel: "warning",
    metafile: true,
    write: false,
  });
}

/** The parser of command lines loads what starts other programs, for commands that are programs; there are none here. */
const withoutChildProcess = {
  name: "without-child-process",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:child_process$/ }, ({ importer }) =>
      importer.includes(join("node_modules", "commander"))
        ? { path: "child_process", namespace: "nothing" }
        : undefined,
    );
    onLoad({ filter: /.*/, namespace: "nothing" }, () => ({ contents: "module.exports = {};" }));
  },
};

/** Node loads CommonJS in less time than modules; only those can be split. */
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
  const url = text.includes(ownUrl)
    ? `const ${ownUrl}=require("node:url").pathToFileURL(__filename).href;`
    : "";
  // Of a package that is CommonJS itself, what is split off exports the whole alone, where Node gives its parts as well.
  const parts = /^export default require_\w+\(\);$/m.test(text) ? partsOfDefault : "";
  return { path, code: `"use strict";${url}${code}${parts}` };
}

async function write({ outputFiles, metafile }) {
  const files = packFiles(await Promise.all(outputFiles.map(toCommonJs)), metafile, packs);
  await rm(dist, { recursive: true, force: true });
  await mkdir(dist, { recursive: true });
  await writeFile(join(dist, "package.json"), '{ "type": "commonjs" }\n');
  await Promise.all(files.map(({ path, code }) => writeFile(path, code)));
  await writeNotices(root, metafile, join(dist, "THIRD-PARTY-NOTICES.txt"));
  await compileAhead(root);
}

/** The sources that each file of dist/ is made of. */
function listParts({ metafile: { outputs } }) {
  const places = placeFiles(outputs, packs);
  const parts = {};
  for (const [path, { inputs }] of Object.entries(outputs)) {
    const name = places.get(basename(path)) ?? basename(path);
    parts[name] = [...(parts[name] ?? []), ...Object.keys(inputs)];
  }
  return parts;
}

const made = await bundle();
// With --parts nothing is written: the test of what a start loads asks for them.
if (process.argv.includes("--parts")) process.stdout.write(JSON.stringify(listParts(made)));
else await write(made);
