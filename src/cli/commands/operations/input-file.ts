import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { buffer } from "node:stream/consumers";
import { toFileError, UserError, usageError } from "../../../config/user-error.ts";
import type { Context } from "../../program/context.ts";

/**
 * Reads all fields of an operation from the file named by `--input`.
 * @throws UserError `usage` if the file is missing or does not contain a JSON object
 */
export async function readInputFile(
  { io }: Pick<Context, "io">,
  file: string,
): Promise<Readonly<Record<string, unknown>>> {
  const bytes = file === "-" ? await buffer(io.stdin) : await readNamed(resolve(io.cwd, file), file);
  const source = file === "-" ? "standard input" : file;
  const hint = 'It must be one JSON object with the fields of the operation: {"field": "value"}.';
  const parsed = parse(bytes.toString("utf8"), (reason) =>
    usageError(`--input: ${source} is not valid JSON: ${reason}`, hint),
  );
  if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)) {
    return parsed as Readonly<Record<string, unknown>>;
  }
  throw usageError(`--input: ${source} does not contain a JSON object`, hint);
}

async function readNamed(path: string, name: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    const { message, hint } = toFileError(error, name) as UserError;
    throw usageError(`--input: ${message}`, hint, error);
  }
}

function parse(text: string, createError: (reason: string) => UserError): unknown {
  try {
    return parseUserJson(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw createError((error as Error).message.split("\n")[0] ?? "");
  }
}

/**
 * Parses JSON from a person. Rejects fields named `__proto__`, which an object would silently drop.
 * @throws SyntaxError; UserError `usage` for such a field
 */
export function parseUserJson(text: string): unknown {
  return JSON.parse(text, (name, value: unknown) => {
    if (name !== "__proto__") return value;
    throw usageError("invalid JSON: the field name __proto__ is not allowed");
  });
}
