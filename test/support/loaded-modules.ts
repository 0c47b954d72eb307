import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const source = resolve("src");

/** Lists the files in `src/` and the packages that a source file loads, directly or indirectly, except for types. */
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

function importsOf(text: string): string[] {
  const statements = text.matchAll(/^(?:import|export)\s+(?!type\b)([^;"]*?)\s*(?:from\s+)?"([^"]+)";/gm);
  return [...statements].flatMap(([, names = "", target = ""]) => {
    const isTypesAlone = /^\{\s*(?:type\s+\w+\s*,?\s*)+\}$/.test(names);
    return isTypesAlone ? [] : [target];
  });
}
