import type { CommandTable } from "./command.ts";

const synonyms: Readonly<Record<string, readonly string[]>> = { ls: ["list"], rm: ["delete", "remove"] };

/** Replaces `ls` and `rm` by the verbs they stand for: `products ls` becomes `products list`. */
export function replaceSynonyms(argv: readonly string[], table: CommandTable): readonly string[] {
  const at = argv.findIndex((word) => Object.hasOwn(synonyms, word));
  if (at === -1) return argv;
  const names = Object.keys(table);
  const path: string[] = [];
  for (const word of argv.slice(0, at)) {
    if (names.some((name) => `${name} `.startsWith(`${[...path, word].join(" ")} `))) path.push(word);
  }
  if (path.length === 0) return argv;
  const verb = synonyms[argv[at] ?? ""]?.find((found) => [...path, found].join(" ") in table);
  return verb === undefined ? argv : argv.with(at, verb);
}
