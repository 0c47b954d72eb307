import type { Io } from "../io.ts";
import type { RecordSource } from "./record-names.ts";
import { complete } from "./complete.ts";

/**
 * Answers `__complete <shell> <words…>`: one candidate per line with its description after a tab, and a last line naming
 * what else the shell completes. Errors are ignored, because messages would appear in the middle of the command line.
 */
export async function answerCompletion(io: Pick<Io, "argv" | "stdout"> & RecordSource): Promise<void> {
  const [, shell, ...typed] = io.argv;
  const words = shell === "bash" ? joinAssignments(typed) : typed;
  try {
    const { candidates, further } = await complete(io, words);
    // A value with control characters cannot be typed, and would be printed to the terminal by the shell.
    const printable = candidates.filter(({ value }) => !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(value));
    const lines = printable.map(({ value, about }) => `${value}\t${clean(about ?? "")}`);
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

/** Removes control characters, which file names may contain. */
function clean(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]+/gu, " ").slice(0, 200);
}
