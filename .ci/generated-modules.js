// Makes the modules that src/ only declares, for the build and for vitest: the files of commands, the operation
// cards, the messages, and the storefront elements.
import { readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { writeShopAssets } from "./shop-assets.js";

const root = join(import.meta.dirname, "..");
const commandsFolder = join(root, "src/cli/commands");

/** Every file that exports a command, by its path in src/cli/commands, with the words of the command: `mail rules list`. */
export function listCommandFiles() {
  return readdirSync(commandsFolder, { recursive: true })
    .map((path) => path.split(sep).join("/"))
    .filter(
      (path) => path.endsWith(".ts") && /^export default /m.test(readFileSync(join(commandsFolder, path), "utf8")),
    )
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((path) => ({ path, name: nameOf(path.slice(0, -3).split("/")) }));
}

/** A command without a verb, or with files of its own, has a folder: `serve/serve`, `reviews/moderate/moderate`. */
function nameOf(words) {
  return words.filter((word, at) => at === 0 || word !== words[at - 1]).join(" ");
}

/** The commands in the folder `records` are those of every record kind. */
function writeCommandFiles() {
  const prefix = "records ";
  const write = (files) =>
    files.map(({ name, path }) => `${JSON.stringify(name)}: () => import("../commands/${path}"),\n`).join("");
  const [own, ofKinds] = [false, true].map((isOfKinds) =>
    listCommandFiles().filter(({ name }) => name.startsWith(prefix) === isOfKinds),
  );
  const verbs = ofKinds.map(({ name, path }) => ({ name: name.slice(prefix.length), path }));
  return `export const commandFiles = {\n${write(own)}};\nexport const kindCommandFiles = {\n${write(verbs)}};\n`;
}

async function writeOperationCards() {
  const { writeCards } = await importSource(".ci/generate/operation-cards.ts");
  return writeCards();
}

const writers = {
  "src/cli/program/command-files.ts": writeCommandFiles,
  "src/cli/commands/operations/operation-cards.ts": writeOperationCards,
  "src/messages/catalogs.ts": async () => {
    const { compileCatalogs, readCatalogs } = await importSource(".ci/messages.ts");
    return compileCatalogs(readCatalogs());
  },
  "src/messages/sources.ts": async () => {
    const { readCatalogs } = await importSource(".ci/messages.ts");
    return `export const sources = ${JSON.stringify(readCatalogs())};\n`;
  },
  "src/shop/assets.ts": async () => {
    const { readCatalogs } = await importSource(".ci/messages.ts");
    return writeShopAssets(readCatalogs());
  },
};

/** The text of a generated module, or undefined if the file is not one. */
async function generate(path) {
  return writers[relative(root, path).split(sep).join("/")]?.();
}

export const generatedModules = {
  name: "generated-modules",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/](?:command-files|operation-cards|catalogs|sources|assets)\.ts$/ }, async ({ path }) => {
      const contents = await generate(path);
      return contents === undefined ? undefined : { contents, loader: "ts" };
    });
  },
};

/** The same for vitest. */
export const generatedModulesOfVite = { name: generatedModules.name, enforce: "pre", load: (path) => generate(path) };

/** Imports a TypeScript file, with the packages of the repository. */
export async function importSource(path) {
  const outfile = join(root, `node_modules/.cache/${path.replaceAll(/\W+/g, "-")}-${process.pid}-${Date.now()}.mjs`);
  try {
    await build({
      absWorkingDir: root,
      entryPoints: [path],
      outfile,
      bundle: true,
      packages: "external",
      format: "esm",
      platform: "node",
      target: "node20.19",
      plugins: [generatedModules],
      logLevel: "warning",
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    await rm(outfile, { force: true });
  }
}
