import type { Io } from "../io.ts";
import type { RecordSource } from "./record-names.ts";
import { complete } from "./complete.ts";

/**
 * Answers `__complete <shell> <words…>`: one candidate per line with its description after a tab, and a last line naming
 * what else the shell completes. Errors are ignored, because messages would appear in the middle of the command line.
 */
export async function answerCompletion(io: Pick<Io, "argv" | "stdout"> & RecordSource): Promise<void> {
  const [, shell, ...typed] = io.argv;
  const words = (shell === "bash" ? joinAssignments(typed) : typed).map((word, at, all) =>
    shell === "bash" || at === all.length - 1 ? unquote(word, shell) : word,
  );
  // Within an open quote, and in the other shells, the shell quotes the values.
  const quote = shell === "bash" && !/^["']/.test(typed.at(-1) ?? "") ? escape : (value: string) => value;
  try {
    const { candidates, further } = await complete(io, words);
    // A value with control characters cannot be typed, and would be printed to the terminal by the shell.
    const printable = candidates.filter(({ value }) => !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(value));
    const lines = printable.map(({ value, about }) => `${quote(value)}\t${clean(about ?? "")}`);
    io.stdout.write([...lines, `:${further}`, ""].join("\n"));
  } catch {
    io.stdout.write(":none\n");
  }
}

/** Bash splits `--flag=value` into three words and completes only the last. */
function joinAssignments(words: readonly string[]): string[] {
  const isSign = (at: number) => words[at] === "=" && /^--[^=]+$/.test(words[at - 1] ?? "");
  const ended = isSign(words.length - 1) ? [...words, ""] : words;
  return ended.filter((_, at) => !isSign(at));
}

/**
 * Removes the quotes and backslashes of a word that may not be complete. Bash passes words as they were typed, and fish only
 * the last one; zsh passes none, except for an open quote.
 */
function unquote(word: string, shell: string | undefined): string {
  if (shell === "zsh") return word.replace(/^["']/, "");
  const part = /\\(.)|'([^']*)(?:'|$)|"((?:[^"\\]|\\.)*)(?:"|$)/gs;
  return word.replaceAll(part, (_, escaped?: string, single?: string, double?: string) => {
    return escaped ?? single ?? (double ?? "").replaceAll(/\\([$`"\\])/g, "$1");
  });
}

/** Escapes what bash would interpret. Braces are interpreted only with a comma or dots. */
function escape(value: string): string {
  const escaped = value.replaceAll(/[\s!"#$&'()*;<>?[\\\]^`|~]/g, String.raw`\$&`);
  return /,|\.\./.test(value) ? escaped.replaceAll(/[{}]/g, String.raw`\$&`) : escaped;
}

/** Removes control characters, which file names may contain. */
function clean(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]+/gu, " ").slice(0, 200);
}
