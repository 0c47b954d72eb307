import { indentLabels, sanitizeText } from "../../../terminal/safe-text.ts";
import { layoutFor, type TextLayout, wrapIndented } from "../../../terminal/text-layout.ts";
import { createPaint } from "../../../terminal/colors.ts";
import { toJson } from "../../../terminal/render.ts";
import { type ExitStatus, exitStatus } from "../exit-status.ts";
import { failedError, type Misnamed } from "../../../config/user-error.ts";
import { describeFailure } from "./failure.ts";
import { wantsJson } from "../global-flags.ts";
import type { Io } from "../io.ts";
import { findAttachment } from "../output/trace-format.ts";
import { guardIo } from "../output/guarded-io.ts";
import { findTargetFlags, keepTarget } from "../output/suggested-commands.ts";
import { readMessageScreen } from "../output/screen.ts";

/** Prints an error: the message and a hint for a person, or one JSON document for a script. */
export async function reportFailure(io: Io, error: unknown): Promise<ExitStatus> {
  const { redactor } = io;
  const { status, kind, data, stack, misnamed, quotesCells = false, ...failure } = describeFailure(error);
  const ownHint = misnamed ? await addSuggestion(failure.hint, misnamed) : failure.hint;
  const [message = "", hint, detail] = [
    quotesCells ? (redactor?.quotedCells(failure.message) ?? failure.message) : failure.message,
    ownHint && keepTarget(ownHint, findTargetFlags(io.argv)),
    io.argv.includes("--verbose") ? stack : undefined,
  ].map((text) => text && (redactor?.text(text) ?? text));
  if (wantsJson(io.argv)) {
    if (data !== undefined) io.stdout.write(toJson(redactor?.data(data) ?? data));
    io.stderr.write(
      toJson({ error: { kind, message, hint, ...(detail && { stack: detail }) }, ...findAttachment(error) }),
    );
    return status;
  }
  const { width, isColored } = readMessageScreen(io);
  const paint = await createPaint(isColored);
  const layout = await layoutFor([message, hint ?? ""]);
  const print = (label: string, text: string, color: (text: string) => string) => {
    for (const line of foldLabeled(label, text, width, layout)) {
      io.stderr.write(`${line.startsWith(label) ? `${color(label)}${line.slice(label.length)}` : line}\n`);
    }
  };
  print("error:", message, paint.red);
  if (hint) print("hint:", hint, paint.bold);
  for (const line of detail?.split("\n") ?? []) io.stderr.write(`${indentLabels(sanitizeText(line))}\n`);
  return status;
}

/**
 * Reports that the output is incomplete, unless an error was already reported.
 * @param status the status of the command
 * @returns a failure status, unless the status already is one or is resumable
 */
export async function reportLostOutput(io: Io, status: ExitStatus, why: string): Promise<ExitStatus> {
  const { done, someRejected, stopped, notThere } = exitStatus;
  const isReported = ![done, someRejected, stopped, notThere].some((one) => one === status);
  if (isReported) return status;
  const hint =
    "The command has finished. Check that there is enough space for its output, and run it again if necessary.";
  const failed = await reportFailure(guardIo(io), failedError(`could not write all output: ${why}`, hint));
  return status === done || status === someRejected ? failed : status;
}

/** Puts a suggested name before the hint. */
async function addSuggestion(hint: string | undefined, misnamed: Misnamed): Promise<string | undefined> {
  const { suggestName } = await import("./suggestion.ts");
  const suggestion = suggestName(misnamed);
  return suggestion === undefined ? hint : [suggestion, hint].filter((part) => part !== undefined).join(" ");
}

/** Wraps a labeled text, indenting continuation lines to the first word. Removes control characters. */
function foldLabeled(label: string, text: string, width: number, layout: TextLayout): string[] {
  const indent = label.length + 1;
  const lines = text
    .split("\n")
    .map((line, at) => `${at === 0 ? label : " ".repeat(label.length)} ${sanitizeText(line)}`);
  return lines.flatMap((line) => wrapIndented(line, width, indent, layout));
}
