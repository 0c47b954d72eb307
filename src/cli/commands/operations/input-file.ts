import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { toFileError, UserError } from "../../../config/user-error.ts";
import type { Context } from "../../program/context.ts";
import { parseUserJson } from "../../program/user-json.ts";

/**
 * All fields of a call, from the file that `--input` names.
 * @throws UserError `usage` where it is not there, or no JSON object
 */
export async function readWholeInput(
  { io }: Pick<Context, "io">,
  file: string | undefined,
): Promise<Readonly<Record<string, unknown>>> {
  if (file === undefined) return {};
  const text = file === "-" ? await readAll(io.stdin) : await readNamed(resolve(io.cwd, file), file);
  const where = file === "-" ? "standard input" : file;
  const hint = 'It holds one JSON object with the fields of the call: {"field": "value"}.';
  const parsed = parse(text, (why) => new UserError("usage", `--input: ${where} is not JSON: ${why}`, hint));
  if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)) {
    return parsed as Readonly<Record<string, unknown>>;
  }
  throw new UserError("usage", `--input: ${where} holds no JSON object`, hint);
}

async function readNamed(path: string, shown: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const { message, hint } = toFileError(error, shown) as UserError;
    throw new UserError("usage", `--input: ${message}`, hint, error);
  }
}

async function readAll(stdin: AsyncIterable<unknown>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk)));
  return Buffer.concat(chunks).toString("utf8");
}

function parse(text: string, refuse: (why: string) => UserError): unknown {
  try {
    return parseUserJson(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw refuse((error as Error).message.split("\n")[0] ?? "");
  }
}
