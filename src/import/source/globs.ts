import { existsSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { ImportError } from "../import-error.ts";
import type { ImportContext } from "../context.ts";

/**
 * Replaces patterns by the files that they match, sorted by name. A file whose name is literally the pattern takes
 * precedence; a file that several patterns match is used once. Hidden files are matched only by patterns that start with
 * a dot.
 * @throws ImportError `usage` if a pattern matches nothing
 */
export async function expandGlobs(
  given: readonly string[],
  { cwd, report }: Pick<ImportContext, "cwd" | "report">,
): Promise<string[]> {
  const found: string[] = [];
  for (const name of given) {
    if (!isPattern(name, cwd)) {
      found.push(name);
      continue;
    }
    const matches = await match(name, cwd);
    if (matches.length === 0) {
      throw new ImportError("usage", `${name}: no file matches`, {
        hint: "in a pattern, * matches names in one folder, and ** also matches subfolders",
      });
    }
    const taken = new Set(found.map((file) => resolve(cwd, file)));
    const fresh = matches.filter((file) => !taken.has(resolve(cwd, file)));
    report({ type: "notice", message: `${name}: ${describeMatches(matches)}` });
    found.push(...fresh);
  }
  return found;
}

function isPattern(name: string, cwd: string): boolean {
  return name !== "-" && /[*?[{]/.test(name) && !existsSync(resolve(cwd, name));
}

async function match(pattern: string, cwd: string): Promise<string[]> {
  const { glob } = await import("tinyglobby");
  const found = await glob(pattern, { cwd, absolute: isAbsolute(pattern), expandDirectories: false });
  return found.toSorted();
}

function describeMatches(matches: readonly string[]): string {
  const more = matches.length > 10 ? ` and ${matches.length - 10} more` : "";
  const count = matches.length === 1 ? "1 file" : `${matches.length} files`;
  return `${count}: ${matches.slice(0, 10).join(", ")}${more}`;
}
