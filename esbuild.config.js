// Builds dist/ from src/: each import() and each thread starts a file of its own, so a command loads only what it uses.
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { build, transform } from "esbuild";
import { writeNotices } from "./.ci/notices.js";

const root = import.meta.dirname;
const dist = join(root, "dist");

/** Stands in for `import.meta.url`, which CommonJS does not have. */
const fileUrl = "__fileUrl";

/**
 * Commands load dozens of small files, and looking each of them up takes longer than running it. A pack is one file with
 * all that these sources import. `--help` loads the first, every command the first two, and commands that use the embedded
 * database all three.
 */
const packs = {
  help: ["src/cli/program/help/overview.ts"],
  program: [
    "src/cli/program/program.ts",
    "src/cli/program/context.ts",
    "src/cli/program/flag-values.ts",
    "src/cli/program/output/messages.ts",
    "src/cli/program/output/print.ts",
    "src/terminal/write-rows.ts",
    "src/cli/commands/operations/thin-commands.ts",
    "src/config/profile.ts",
  ],
  engine: [
    "src/cli/commands/operations/run.ts",
    "src/app/app.ts",
    "src/storage/database.ts",
    "src/storage/sqlite/driver.ts",
    "src/engine/local-transport.ts",
    "src/engine/accounts/first-account.ts",
    "src/engine/kernel/sealer.ts",
    "src/engine/kernel/storage-errors.ts",
    "src/engine/products/core.ts",
  ],
};

/** After splitting, a CommonJS package exports only `default`; this adds its named exports. */
const namedExports =
  "for(const name of Object.keys(module.exports.default))if(!(name in module.exports))module.exports[name]=module.exports.default[name];\n";

/** The main file, and the files that start a thread or a process. */
async function findEntryPoints() {
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

/** Bundles all packages except those listed in `dependencies` or `optionalDependencies`. */
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
    define: { "import.meta.url": fileUrl },
    external: [...Object.keys(dependencies), ...Object.keys(optionalDependencies)],
    plugins: [withoutChildProcess],
    legalComments: "none",
    logLevel: "warning",
    metafile: true,
    write: false,
  });
}

/** Commander imports node:child_process for subcommands that are executables, which starpost does not have. */
const withoutChildProcess = {
  name: "without-child-process",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:child_process$/ }, ({ importer }) =>
      importer.includes(join("node_modules", "commander"))
        ? { path: "child_process", namespace: "empty" }
        : undefined,
    );
    onLoad({ filter: /.*/, namespace: "empty" }, () => ({ contents: "module.exports = {};" }));
  },
};

/**
 * Loads Node's own modules on first use: `node:crypto` and `node:fs/promises` each take as long to load as a short
 * command. esbuild accesses every import as a property of a variable, `import_node_fs.readFileSync`. The parentheses are
 * for `new`: in `new f().Agent()`, `new` applies to `f`.
 */
function loadBuiltinsLazily(code) {
  const names = [];
  const lazy = code.replaceAll(
    /\b(import_\w+)=((?:__toESM\()?require\("node:[\w/]+"\)\)?)(?=[,;])/g,
    (_match, name, load) => {
      names.push(name);
      return `${name}=()=>(${name}_module??=${load})`;
    },
  );
  if (names.length === 0) return code;
  const uses = new RegExp(String.raw`\b(${names.join("|")})\b(?!=\(\)=>)`, "g");
  return `let ${names.map((name) => `${name}_module`).join(",")};${lazy.replaceAll(uses, "($1())")}`;
}

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
  const url = text.includes(fileUrl)
    ? `const ${fileUrl}=require("node:url").pathToFileURL(__filename).href;`
    : "";
  const names = /^export default require_\w+\(\);$/m.test(text) ? namedExports : "";
  return { path, code: `"use strict";${url}${loadBuiltinsLazily(code)}${names}` };
}

/** The pack of each output file that is in one. */
function findPacks({ outputs }) {
  const packOf = new Map(collectOutputs(outputs, ["src/main.ts"]).map((path) => [path, ""]));
  for (const [name, sources] of Object.entries(packs)) {
    for (const path of collectOutputs(outputs, sources)) if (!packOf.has(path)) packOf.set(path, name);
  }
  return new Map([...packOf].filter(([, name]) => name).map(([path, name]) => [basename(path), name]));
}

/** The output files that are loaded together with sources. */
function collectOutputs(outputs, sources) {
  const entries = Object.entries(outputs);
  const found = sources.map((source) => {
    const [path] = entries.find(([, { entryPoint }]) => entryPoint === source) ?? [];
    if (!path) throw new Error(`${source} is not imported with import(), so it has no file of its own`);
    return path;
  });
  for (const path of found) {
    const next = outputs[path].imports.filter(
      ({ kind, external }) => kind === "import-statement" && !external,
    );
    found.push(...next.map((imported) => imported.path).filter((imported) => !found.includes(imported)));
  }
  return found;
}

/**
 * Moves files into their packs. Each file becomes a function that runs when it is first required. The parentheses around
 * the function make V8 compile it immediately, and only such functions are in Node's compile cache.
 */
function packFiles(files, packOf) {
  const redirect = (code, from) =>
    code.replaceAll(/\brequire\("\.\/([^"]+)"\)/g, (load, name) => {
      const target = packOf.get(name);
      if (!target) return load;
      if (target === from) return `__load("${name}")`;
      return from ? `__pack("./${target}.js")("${name}")` : `require("./${target}.js")("${name}")`;
    });
  const redirected = files.map(({ path, code }) => {
    const from = packOf.get(basename(path));
    return { path, from, code: redirect(code, from) };
  });
  const packed = Object.keys(packs).map((name) => {
    const members = redirected
      .filter(({ from }) => from === name)
      .map(({ path, code }) => `"${basename(path)}":(function(module,exports){${code}\n})`);
    return { path: join(dist, `${name}.js`), code: `"use strict";${loadMember}{${members.join(",\n")}};\n` };
  });
  return [...redirected.filter(({ from }) => !from), ...packed];
}

/**
 * The start of a pack: exports a function that loads one of its files. Requires the other packs only once, because Node
 * resolves the path each time.
 */
const loadMember = `const loaded={},packs={};
function __pack(path){return packs[path]??=require(path)}
function __load(name){let found=loaded[name];if(!found){found=loaded[name]={exports:{}};members[name](found,found.exports)}return found.exports}
module.exports=__load;
const members=`;

async function write({ outputFiles, metafile }) {
  const files = packFiles(await Promise.all(outputFiles.map(toCommonJs)), findPacks(metafile));
  await rm(dist, { recursive: true, force: true });
  await mkdir(dist, { recursive: true });
  await writeFile(join(dist, "package.json"), '{ "type": "commonjs" }\n');
  await Promise.all(files.map(({ path, code }) => writeFile(path, code)));
  await writeNotices(root, metafile, join(dist, "THIRD-PARTY-NOTICES.txt"));
}

/** The source files that each file of dist/ contains. */
function listParts({ metafile }) {
  const packOf = findPacks(metafile);
  const parts = {};
  for (const [path, { inputs }] of Object.entries(metafile.outputs)) {
    const name = packOf.get(basename(path));
    (parts[name ? `${name}.js` : basename(path)] ??= []).push(...Object.keys(inputs));
  }
  return parts;
}

const result = await bundle();
// With --parts, prints the parts of each file and writes nothing.
if (process.argv.includes("--parts")) process.stdout.write(JSON.stringify(listParts(result)));
else await write(result);
