import { layoutFor, sanitizeText, type TextLayout } from "../../../terminal/text-layout.ts";
import { wrapIndented } from "../../../terminal/wrap-text.ts";
import { createPaint } from "../../../terminal/colors.ts";
import { toJson } from "../../../terminal/render.ts";
import { type ExitStatus, exitStatus } from "../exit-status.ts";
import { type Misnamed, UserError } from "../../../config/user-error.ts";
import { describeFailure } from "./failure.ts";
import { wantsJson } from "../global-flags.ts";
import type { Io } from "../io.ts";
import { readMessageScreen } from "../output/screen.ts";

/** Says an error in two lines for a person, what and what to do; in one document for a script. */
export async function reportFailure(io: Io, error: unknown): Promise<ExitStatus> {
  const { status, kind, message, hint: told, data, stack, misnamed } = describeFailure(error);
  const hint = misnamed ? await addGuess(told, misnamed) : told;
  const detail = io.argv.includes("--verbose") ? stack : undefined;
  if (wantsJson(io.argv)) {
    if (data !== undefined) io.stdout.write(toJson(data));
    io.stderr.write(toJson({ error: { kind, message, hint, ...(detail && { stack: detail }) } }));
    return status;
  }
  const { width, isColored } = readMessageScreen(io);
  const paint = await createPaint(isColored);
  const layout = await layoutFor([message, hint ?? ""]);
  const say = (label: string, text: string, colour: (text: string) => string) => {
    // A service's own words may hold what steers a terminal.
    for (const line of foldLabelled(label, text, width, layout)) {
      io.stderr.write(`${line.startsWith(label) ? `${colour(label)}${line.slice(label.length)}` : line}\n`);
    }
  };
  say("error:", message, paint.red);
  if (hint) say("hint:", hint, paint.bold);
  if (detail) io.stderr.write(`${detail}\n`);
  return status;
}

/**
 * Says that what was printed is not whole, unless an error was said already.
 * @param status what the command ended with
 * @returns a status by which nobody takes what is there for all; one that can be resumed stays
 */
export async function reportLostOutput(io: Io, status: ExitStatus, why: string): Promise<ExitStatus> {
  const { done, someRejected, stopped, notThere } = exitStatus;
  const isSaid = ![done, someRejected, stopped, notThere].some((one) => one === status);
  if (isSaid) return status;
  const hint = "The command itself has come to its end; see that there is room where its output goes.";
  const failed = await reportFailure(
    io,
    new UserError("failed", `what was printed is not whole: ${why}`, hint),
  );
  return status === done || status === someRejected ? failed : status;
}

/** Puts the name that was meant, where one is near, before what else is to be done. */
async function addGuess(hint: string | undefined, misnamed: Misnamed): Promise<string | undefined> {
  const { suggestName } = await import("./suggestion.ts");
  const guess = suggestName(misnamed);
  return guess === undefined ? hint : [guess, hint].filter((part) => part !== undefined).join(" ");
}

/** What is behind a label, folded between words, with what follows under its first word. */
function foldLabelled(label: string, text: string, width: number, layout: TextLayout): string[] {
  const indent = label.length + 1;
  const lines = text
    .split("\n")
    .map((line, at) => `${at === 0 ? label : " ".repeat(label.length)} ${sanitizeText(line)}`);
  return lines.flatMap((line) => wrapIndented(line, width, indent, layout));
}
