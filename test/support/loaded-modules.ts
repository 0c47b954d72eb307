import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const source = resolve("src");

/** What is loaded with a source file, and with what it loads in turn: files from `src/`, and packages. Types are not. */
export function modulesLoadedBy(path: string): ReadonlySet<string> {
  const found = new Set<string>();
  const follow = (file: string) => {
    const name = relative(source, file);
    if (found.has(name)) return;
    found.add(name);
    for (const target of importsOf(readFileSync(file, "utf8"))) {
      if (target.startsWith(".")) follow(join(dirname(file), target));
      else found.add(target);
    }
  };
  follow(join(source, path));
  return found;
}

/** The files that declare commands, as the table of commands imports them. */
export function listCommandFiles(): string[] {
  const table = join(source, "cli/program/commands.ts");
  const imports = readFileSync(table, "utf8").matchAll(/\bimport\("(\.[^"]+)"\)/g);
  return [...new Set([...imports].map(([, target = ""]) => relative(source, join(dirname(table), target))))];
}

function importsOf(text: string): string[] {
  const statements = text.matchAll(/^(?:import|export)\s+(?!type\b)([^;"]*?)\s*(?:from\s+)?"([^"]+)";/gm);
  return [...statements].flatMap(([, names = "", target = ""]) => {
    const isTypesAlone = /^\{\s*(?:type\s+\w+\s*,?\s*)+\}$/.test(names);
    return isTypesAlone ? [] : [target];
  });
}
