// Bundles src/shop, the storefront elements, for browsers. The files are part of the program, as text.
import { createHash } from "node:crypto";
import { readdirSync, existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build, transform } from "esbuild";

const root = join(import.meta.dirname, "..");
const folder = join(root, "src/shop");

/** The messages that the sources of the elements name: `"shop.a.b"`, or all that begin with `shop.a.${`. */
function pickMessages(messages) {
  const files = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".ts"));
  const text = files.map((name) => readFileSync(join(folder, name), "utf8")).join("\n");
  const named = [...text.matchAll(/["`]((?:shop|page)\.[\w.]+)(\$\{)?/g)];
  const isUsed = (key) => named.some(([, name, more]) => (more ? key.startsWith(name) : key === name));
  return Object.fromEntries(Object.entries(messages).filter(([key]) => isUsed(key)));
}

/** What several elements share. The loader names these files like the sources, because esbuild decides their names. */
const sharedModules = ["element", "controls", "votes", "thumbnails", "photo"];

/** A hash like those of esbuild. */
const hashOf = (text) => createHash("sha256").update(text).digest("hex").slice(0, 8).toUpperCase();

/** Makes modules of the list of languages, whose files share a hash, and of style sheets. */
const virtualModules = (texts) => ({
  name: "shop",
  setup({ onLoad, onResolve }) {
    // Only its numbers remain, where they are used.
    onResolve({ filter: /\/limits\.ts$/ }, ({ path, resolveDir }) => ({
      path: join(resolveDir, path),
      sideEffects: false,
    }));
    onLoad({ filter: /[\\/]shop[\\/]languages\.ts$/ }, () => ({
      contents: `export const languages = ${JSON.stringify(Object.keys(texts))};
        export const loadTexts = (name) => { const path = "./" + name + "-${hashOf(JSON.stringify(texts))}.js"; return import(path); };`,
    }));
    onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const options = { loader: "css", minify: true, target: "safari16.4" };
      const { code } = await transform(readFileSync(path, "utf8"), options);
      return { contents: code.trim(), loader: "text" };
    });
  },
});

/** The texts of the files, by their names, and the files of each element and language. */
async function bundle(catalogs) {
  const texts = Object.fromEntries(Object.entries(catalogs).map(([name, all]) => [name, pickMessages(all)]));
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: ["src/shop/loader.ts"],
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    outdir: "shop",
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    charset: "utf8",
    legalComments: "none",
    plugins: [virtualModules(texts)],
    external: sharedModules.map((name) => `./${name}.js`),
    logLevel: "warning",
    metafile: true,
    write: false,
  });
  const files = Object.fromEntries(outputFiles.map(({ path, text }) => [basename(path), text]));
  const outputs = Object.entries(metafile.outputs).map(([path, output]) =>
    Object.assign(output, { name: basename(path) }),
  );
  /** What a file imports at once, and what that imports. */
  const withImports = (name) => {
    const imports = outputs.find((one) => one.name === name).imports.filter(({ kind }) => kind === "import-statement");
    return [...new Set([name, ...imports.flatMap(({ path }) => withImports(basename(path)))])];
  };
  const bundles = outputs
    .filter(({ entryPoint }) => entryPoint !== undefined)
    .map(({ name, entryPoint }) => [/([^/:]+?)(?:\.ts)?$/.exec(entryPoint)[1], withImports(name)]);
  for (const [name, messages] of Object.entries(texts)) {
    const file = `${name}-${hashOf(JSON.stringify(texts))}.js`;
    files[file] = `export default ${JSON.stringify(messages)};`;
    bundles.push([name, [file]]);
  }
  const { loader } = Object.fromEntries(bundles);
  for (const name of sharedModules) {
    const file = outputs.find(({ inputs }) => `src/shop/${name}.ts` in inputs).name;
    files[loader[0]] = files[loader[0]].replace(`./${name}.js`, `./${file}`);
  }
  return { files, bundles: Object.fromEntries(bundles) };
}

function compress(text) {
  const bytes = Buffer.from(text);
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  return {
    integrity: `sha384-${createHash("sha384").update(bytes).digest("base64")}`,
    brotli: brotliCompressSync(bytes, { params }).toString("base64"),
    gzip: gzipSync(bytes, { level: 9 }).toString("base64"),
  };
}

/** The files of earlier versions, which pages of shops may still name. */
function readPrevious(previousFolder) {
  if (!existsSync(previousFolder)) return {};
  const names = readdirSync(previousFolder, { recursive: true }).filter((name) => name.endsWith(".js"));
  return Object.fromEntries(names.map((name) => [basename(name), readFileSync(join(previousFolder, name), "utf8")]));
}

/** Writes the module `src/shop/assets.ts`. */
export async function writeShopAssets(catalogs, previousFolder = join(folder, "previous")) {
  const { files, bundles } = await bundle(catalogs);
  const all = { ...readPrevious(previousFolder), ...files };
  const assets = Object.fromEntries(Object.entries(all).map(([name, text]) => [name, compress(text)]));
  const name = bundles.loader[0];
  // At its URL, the other files are in a folder below.
  const loader = { name, ...compress(files[name].replaceAll('"./', '"./elements/')) };
  const write = (value) => JSON.stringify(value);
  return `export const assets = ${write(assets)};\nexport const loader = ${write(loader)};\nexport const bundles = ${write(bundles)};\n`;
}
