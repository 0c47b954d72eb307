import { loadJq } from "jq-wasm/inline";
import { failedError, usageError, type UserError } from "../../../config/user-error.ts";
import type { Io } from "../io.ts";
import { proxyWrites } from "./stream-proxy.ts";

/** Applies a jq expression to the JSON that a command writes to standard output. */
export interface JqOutput {
  readonly io: Io;
  /**
   * Prints the results for the documents that are not yet processed.
   * @throws UserError `failed` if the expression failed on a document
   */
  finish(): void;
  /** As `finish`, after another error that has been reported. */
  end(): void;
}

/**
 * Filters JSON output as `jq --raw-output` does: strings are printed without quotes, and other results as JSON, one per
 * line. A document is kept until it is complete.
 * @param isPerLine whether each line is a document of its own, whose results are printed at once
 * @throws UserError `usage` if the expression is invalid
 */
export async function openJqOutput(io: Io, given: string, isPerLine: boolean): Promise<JqOutput> {
  const jq = await loadJq();
  // A leading hyphen would make it a flag.
  const expression = given.startsWith("-") ? ` ${given}` : given;
  const checked = jq.raw("", expression);
  if (checked.exitCode !== 0) throw invalidExpression(given, checked.stderr);
  const { indentJson } = await import("../../commands/api/response.ts");
  let pending = "";
  let failure: string | undefined;
  const filter = (documents: string, done?: (error?: Error | null) => void): boolean => {
    const { stdout, stderr, exitCode } = jq.raw(documents, expression, ["--compact-output"]);
    if (exitCode !== 0) failure ??= stderr;
    const results = stdout === "" ? [] : stdout.split("\n");
    return io.stdout.write(
      results.map((result) => `${formatResult(result, io.isStdoutTerminal ? indentJson : undefined)}\n`).join(""),
      done,
    );
  };
  const stream = proxyWrites(io.stdout, {
    write: (chunk, done) => {
      pending += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8");
      const end = isPerLine ? pending.lastIndexOf("\n") + 1 : 0;
      if (end === 0 || failure !== undefined) {
        if (done) queueMicrotask(done);
        return true;
      }
      const lines = pending.slice(0, end);
      pending = pending.slice(end);
      return filter(lines, done);
    },
  });
  const end = () => {
    if (pending.trim() !== "" && failure === undefined) filter(pending);
    pending = "";
  };
  const finish = () => {
    end();
    if (failure !== undefined) throw failedError(`--jq: ${describeError(failure)}`);
  };
  return { io: Object.create(io, { stdout: { value: stream } }) as Io, finish, end };
}

function formatResult(json: string, indent: ((json: string) => string) | undefined): string {
  if (json.startsWith('"')) return JSON.parse(json) as string;
  return indent ? indent(json) : json;
}

function invalidExpression(expression: string, stderr: string): UserError {
  return usageError(
    `invalid value ${JSON.stringify(expression)} for --jq: ${describeError(stderr)}`,
    "The language is that of jq 1.8: https://jqlang.org/manual",
  );
}

/** The first line of jq's message, without the names of the program and its input. */
function describeError(stderr: string): string {
  const line = stderr.split("\n").find((text) => text.trim() !== "") ?? "failed";
  return line.replace(/^jq: (?:error(?: \(at [^)]*\))?: |(?=parse error))|:$/g, "");
}
