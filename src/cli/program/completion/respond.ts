import type { Io } from "../io.ts";
import { complete } from "./complete.ts";

/**
 * Answers the shell's question, `__complete <shell> <words…>`: a candidate a line with what it is behind a tab, and a last
 * line that says what the shell adds by itself. Whatever goes wrong, nothing is said: it would stand in the middle of
 * what a person types.
 */
export async function answerCompletion(io: Pick<Io, "argv" | "env" | "cwd" | "stdout">): Promise<void> {
  const [, shell, ...typed] = io.argv;
  const words = shell === "bash" ? joinAssignments(typed) : typed;
  try {
    const { candidates, further } = await complete(io, words);
    const lines = candidates.map(({ value, about }) => `${value}\t${clean(about ?? "")}`);
    io.stdout.write([...lines, `:${further}`, ""].join("\n"));
  } catch {
    io.stdout.write(":none\n");
  }
}

/** Bash takes `--flag=value` for three words, and asks for the last alone. */
function joinAssignments(words: readonly string[]): string[] {
  const isSign = (at: number) => words[at] === "=" && /^--[^=]+$/.test(words[at - 1] ?? "");
  const ended = isSign(words.length - 1) ? [...words, ""] : words;
  return ended.filter((_, at) => !isSign(at));
}

/** A file's name may hold what steers a terminal. */
function clean(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]+/gu, " ").slice(0, 200);
}
