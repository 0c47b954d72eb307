import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Writes the names, versions, and licenses of the bundled packages, as their licenses require. */
export async function writeNotices(root, metafile, path) {
  const folders = new Set(Object.keys(metafile.inputs).flatMap((input) => packageFolder(input) ?? []));
  const notices = await Promise.all([...folders].toSorted().map((folder) => readNotice(join(root, folder))));
  const intro = "The files in this folder contain the following packages, each under its own license.\n";
  await writeFile(path, [intro, ...notices].join(`\n${"-".repeat(80)}\n\n`));
}

/** The innermost package folder that contains a file. */
function packageFolder(input) {
  return /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1];
}

async function readNotice(folder) {
  const { name, version, license, author } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const files = (await readdir(folder)).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file)).toSorted();
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
  if (license === undefined && texts.length === 0) throw new Error(`${name} does not declare a license`);
  const authorName = typeof author === "object" ? author.name : author;
  const copyright = authorName ? `Copyright (c) ${authorName}` : "";
  const body = texts.length > 0 ? texts.map((text) => text.trim()) : [copyright];
  return `${name} ${version} (${license ?? "see license below"})\n\n${body.join("\n\n")}\n`;
}
