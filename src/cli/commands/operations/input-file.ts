import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { buffer } from "node:stream/consumers";
import { toFileError, UserError, usageError } from "../../../config/user-error.ts";
import { findJsonProblem } from "../../../contract/json-text.ts";
import type { Io } from "../../program/io.ts";

/** Files named by flags. Standard input can be read only once. */
export class InputFiles {
  readonly #io: Pick<Io, "stdin" | "cwd">;
  #isStdinTaken = false;

  constructor(io: Pick<Io, "stdin" | "cwd">) {
    this.#io = io;
  }

  /** @throws UserError `usage` if the file does not exist */
  async read(name: string, flag: string): Promise<Buffer> {
    if (name !== "-") {
      return readFile(resolve(this.#io.cwd, name)).catch((error: unknown) => {
        const found = toFileError(error, name);
        throw found instanceof UserError ? usageError(`${flag}: ${found.message}`) : found;
      });
    }
    if (this.#isStdinTaken) throw usageError("only one flag can read standard input");
    this.#isStdinTaken = true;
    return buffer(this.#io.stdin);
  }
}

/**
 * Reads all fields of an operation from the file named by `--input`.
 * @throws UserError `usage` if the file is missing or does not contain a JSON object
 */
export async function readInputFile(
  io: Pick<Io, "stdin" | "cwd">,
  file: string,
  files = new InputFiles(io),
): Promise<Readonly<Record<string, unknown>>> {
  const text = (await files.read(file, "--input")).toString("utf8");
  const refuse = (what: string) => {
    const hint = 'It must be one JSON object with the fields of the operation: {"field": "value"}.';
    return usageError(`--input: ${file === "-" ? "standard input" : file} ${what}`, hint);
  };
  let parsed: unknown;
  try {
    parsed = parseUserJson(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw refuse(`is not valid JSON: ${(error as Error).message.split("\n")[0]}`);
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    throw refuse("does not contain a JSON object");
  }
  return parsed as Readonly<Record<string, unknown>>;
}

/**
 * Parses JSON from a person. Rejects fields named `__proto__`, which an object would silently drop, and integers
 * that JavaScript would round.
 * @throws SyntaxError; UserError `usage` for such a value
 */
export function parseUserJson(text: string): unknown {
  const found = findJsonProblem(Buffer.from(text));
  if (found) throw usageError(`invalid JSON: it ${found.problem} (at character ${found.character})`);
  return JSON.parse(text, (name, value: unknown) => {
    if (name !== "__proto__") return value;
    throw usageError("invalid JSON: the field name __proto__ is not allowed");
  });
}
