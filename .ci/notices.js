import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Writes the names, versions and licences of the packages that are part of a bundle, as their licences ask. */
export async function writeNotices(root, metafile, path) {
  const folders = new Set(Object.keys(metafile.inputs).flatMap((input) => packageFolder(input) ?? []));
  const notices = await Promise.all([...folders].toSorted().map((folder) => readNotice(join(root, folder))));
  const head = "The files beside this one hold these packages, each under its own licence.\n";
  await writeFile(path, [head, ...notices].join(`\n${"-".repeat(80)}\n\n`));
}

/** The innermost package's folder that a file is in. */
function packageFolder(input) {
  return /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1];
}

async function readNotice(folder) {
  const { name, version, license, author } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const files = (await readdir(folder))
    .filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
    .toSorted();
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
  if (license === undefined && texts.length === 0) throw new Error(`${name} does not say its licence`);
  const by = typeof author === "object" ? author.name : author;
  const own = texts.length > 0 ? texts.map((text) => text.trim()) : [by ? `Copyright (c) ${by}` : ""];
  return `${name} ${version} (${license ?? "licence below"})\n\n${own.join("\n\n")}\n`;
}
