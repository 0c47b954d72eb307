// Prints the structure of src/: files, lines, file lengths, entries per folder, import cycles, and violations of the
// dependency table in docs/development/architecture.md. Warns about large files and folders, and exits with 1 if a limit is
// exceeded. `--json` prints the data.
import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";

/** Above these, a reader should ask whether a part has a name of its own; sizes alone are no reason to split. */
const warnings = { filesPerFolder: 25, linesPerFile: 300 };

/** Above these, the check fails. */
const limits = { filesPerFolder: 30, linesPerFile: 400 };

/** Where a process or thread starts. Only these files may use the globals in `worldPatterns`. */
const entryPoints =
  /^(main|app\/(engine-thread|database-probe|backups\/backup-process)|engine\/reviews\/photo-process)\.ts$/;

/** Everything else receives its clock, streams, and signals as arguments. */
const worldPatterns = {
  process: /(?<![\w.$])process\s*[.[]|["'](?:node:)?process["']/,
  console: /(?<![\w.$])console\s*[.[]/,
  "Date.now": /\bDate\s*\.\s*now\b/,
  "new Date()": /\bnew Date\(\s*\)/,
};

/** Where one statement serves every database, and SQL of a single one, which belongs to the folder of its dialect. */
const sharedSql = /^(engine|worker)\/|^storage\/[^/]+$/;
const dialectSql =
  /\bpg_[a-z]|tsquery|\bjsonb?_each\b|\browid\b|\boffset 0\b|\bpragma \w|::(text|int|bigint)\b|current_setting/;

/** `[specifier, isRuntime]` patterns: static imports and exports, dynamic imports, type imports, and worker files. */
const importPatterns = [
  /\bfrom\s*["']([^"'\s()]+)["']/g,
  /\bimport\s*\(?\s*["']([^"'\s()]+)["']/g,
  /\brequire\s*\(\s*["']([^"'\s()]+)["']/g,
  /\bnew URL\(\s*["'](\.[^"'\s()]+)["']\s*,\s*import\.meta\.url/g,
];

/** Reads every `.ts` file below a folder: `{ path, text }`, paths relative to the folder. */
export function readSources(folder) {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => ({ path: path.replaceAll("\\", "/"), text: readFileSync(join(folder, path), "utf8") }))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** Reads the dependency table: layer name to the layers (or single files) and packages it may import. */
export function readTable(markdown) {
  const rows = markdown.matchAll(/^\| `([^`]+?)\/?` \|[^|]*\|([^|]*)\|([^|]*)\|$/gm);
  const list = (cell) => [...cell.matchAll(/`([^`]+?)\/?`/g)].map(([, name]) => name);
  return Object.fromEntries(
    [...rows].map(([, name, layers, packages]) => [name, { layers: list(layers), packages: list(packages) }]),
  );
}

/** Every module specifier that a source text imports, in any form. */
export function listImports(text) {
  const code = withoutComments(text);
  return importPatterns.flatMap((pattern) => [...code.matchAll(pattern)].map(([, target]) => target));
}

/** Violations of the dependency table and of the rule on entry points, one line each. */
export function findViolations(sources, table) {
  const layerNames = Object.keys(table).toSorted((a, b) => b.length - a.length);
  const layerOf = (path) => layerNames.find((name) => path === name || path.startsWith(`${name}/`));
  return sources.flatMap(({ path, text }) => {
    const layer = layerOf(path);
    if (layer === undefined) return [`${path}: not in a layer of the table`];
    const { layers, packages } = table[layer];
    const imports = listImports(text).flatMap((target) => {
      if (target.startsWith("node:")) return [];
      if (!target.startsWith(".")) {
        const name = target
          .split("/")
          .slice(0, target.startsWith("@") ? 2 : 1)
          .join("/");
        return packages.includes(name) ? [] : [`${path}: ${layer} may not use package ${name}`];
      }
      const found = posix.normalize(posix.join(posix.dirname(path), target));
      if (found.startsWith("..")) return path === "main.ts" ? [] : [`${path}: ${target} is outside src/`];
      const isAllowed = layers.some((name) => found === name || found.startsWith(`${name}/`));
      return layerOf(found) === layer || isAllowed ? [] : [`${path}: ${layer} may not import ${found}`];
    });
    if (entryPoints.test(path)) return imports;
    const code = withoutComments(text);
    const world = Object.entries(worldPatterns).filter(([, pattern]) => pattern.test(code));
    const foreign = sharedSql.test(path) ? code.match(dialectSql) : null;
    return [
      ...imports,
      ...world.map(([name]) => `${path}: ${name} is reserved for entry points`),
      ...(foreign ? [`${path}: "${foreign[0]}" belongs to storage/<dialect>/`] : []),
    ];
  });
}

/** Groups of files that import each other in a loop (strongly connected components), type imports included. */
export function findCycles(sources) {
  const paths = new Set(sources.map(({ path }) => path));
  const graph = new Map(
    sources.map(({ path, text }) => {
      const targets = listImports(text).filter((target) => target.startsWith("."));
      const found = targets.map((target) => posix.normalize(posix.join(posix.dirname(path), target)));
      return [path, found.filter((target) => paths.has(target))];
    }),
  );
  const [order, low, stack, cycles] = [new Map(), new Map(), [], []];
  const visit = (path) => {
    order.set(path, order.size);
    low.set(path, order.get(path));
    stack.push(path);
    for (const next of graph.get(path)) {
      if (!order.has(next)) visit(next);
      if (stack.includes(next)) low.set(path, Math.min(low.get(path), low.get(next)));
    }
    if (low.get(path) !== order.get(path)) return;
    const group = stack.splice(stack.indexOf(path));
    if (group.length > 1) cycles.push(group);
  };
  for (const path of graph.keys()) if (!order.has(path)) visit(path);
  return cycles;
}

/** Figures for a set of sources, and everything that breaks a limit. */
export function inspect(sources, table) {
  const lengths = sources.map(({ path, text }) => ({ path, lines: text.split("\n").length - 1 }));
  const sorted = lengths.map(({ lines }) => lines).toSorted((a, b) => a - b);
  const folders = new Map();
  for (const { path } of sources) {
    const folder = posix.dirname(path);
    folders.set(folder, (folders.get(folder) ?? 0) + 1);
  }
  return {
    files: sources.length,
    lines: sorted.reduce((sum, lines) => sum + lines, 0),
    medianLines: sorted[Math.floor(sorted.length / 2)] ?? 0,
    maxLines: sorted.at(-1) ?? 0,
    under30Lines: sorted.filter((lines) => lines < 30).length,
    folders: Object.fromEntries([...folders].toSorted(([, a], [, b]) => b - a)),
    largeFiles: lengths.filter(({ lines }) => lines > warnings.linesPerFile),
    largeFolders: [...folders].filter(([, files]) => files > warnings.filesPerFolder),
    longFiles: lengths.filter(({ lines }) => lines > limits.linesPerFile),
    crowdedFolders: [...folders].filter(([, files]) => files > limits.filesPerFolder),
    cycles: findCycles(sources),
    violations: table ? findViolations(sources, table) : [],
  };
}

function withoutComments(text) {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/^\s*\/\/.*$/gm, "");
}

function sizeLine(size, unit, limit, path) {
  return `${(size > limit ? `error: over ${limit} ${unit}` : `warning: ${unit}`).padEnd(21)} ${path} (${size})`;
}

function print(found) {
  const folders = Object.entries(found.folders);
  const output = [
    `files                 ${found.files} (${found.under30Lines} under 30 lines)`,
    `lines                 ${found.lines}`,
    `file length           median ${found.medianLines}, maximum ${found.maxLines}`,
    `files in a folder     at most ${folders[0]?.[1]}, in ${folders.length} folders`,
    ...folders.slice(0, 5).map(([folder, files]) => `                      ${String(files).padStart(3)}  ${folder}/`),
    `import cycles         ${found.cycles.length}`,
    ...found.cycles.map((group) => `                      ${group.length} files: ${group.slice(0, 4).join(", ")}`),
    `table violations      ${found.violations.length}`,
    ...found.violations.map((line) => `                      ${line}`),
    ...found.largeFiles.map(({ path, lines }) => sizeLine(lines, "lines", limits.linesPerFile, path)),
    ...found.largeFolders.map(([folder, files]) => sizeLine(files, "files", limits.filesPerFolder, `${folder}/`)),
  ];
  process.stdout.write(`${output.join("\n")}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = join(import.meta.dirname, "..");
  const folder = process.argv.slice(2).find((argument) => !argument.startsWith("-")) ?? join(root, "src");
  const table = readTable(readFileSync(join(root, "docs/development/architecture.md"), "utf8"));
  const found = inspect(readSources(folder), table);
  if (process.argv.includes("--json")) process.stdout.write(`${JSON.stringify(found, null, 2)}\n`);
  else print(found);
  const isBroken = [found.longFiles, found.crowdedFolders, found.cycles, found.violations].some(
    (list) => list.length > 0,
  );
  process.exitCode = isBroken ? 1 : 0;
}
