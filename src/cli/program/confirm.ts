import type { Profile } from "../../config/profile.ts";
import { failedError, usageError } from "../../config/user-error.ts";
import type { Endpoint } from "../../contract/index.ts";
import type { Globals } from "./global-flags.ts";
import type { Io } from "./io.ts";
import { describeLiveProfile, type WriteApproval } from "./live-profile.ts";
import { canPrompt, prompt } from "./prompt.ts";

interface PromptContext {
  readonly io: Io;
  readonly globals: Globals;
}

interface WriteContext extends PromptContext {
  profile(): Promise<Profile>;
  readonly approval: WriteApproval;
}

/**
 * Asks for confirmation before something that cannot easily be undone. `--yes` confirms.
 * @param question an imperative, and what follows from it: "Delete 2 codes? This cannot be undone."
 * @param place what precedes the question
 * Assumed: declining is not a usage error, but a script that expects the change must not continue, so the command fails.
 * @throws UserError `usage` if nobody can be prompted, `failed` if declined, `interrupted`
 */
export async function confirm(context: PromptContext, question: string, place = ""): Promise<void> {
  if (context.globals.yes) return;
  requirePerson(context, question, place);
  const { promptYesNo } = await import("../../terminal/prompt.ts");
  const isConfirmed = await prompt(context, (terminal) => promptYesNo(`${place}${question}`, terminal));
  if (!isConfirmed) throw failedError("not confirmed; nothing was changed");
}

/**
 * Asks for confirmation before something on the service is destroyed. For a live profile, the question names it.
 * @throws UserError as `confirm`
 */
export async function confirmDestruction(context: WriteContext, question: string): Promise<void> {
  await confirm(context, question, await nameLiveProfile(context));
  context.approval.isGiven = true;
}

/**
 * Asks the person to type a name before everything under it is destroyed. `--yes` confirms.
 * @param question what is lost, as a sentence: "All codes of map_review are deleted."
 * @throws UserError as `confirm`; also `failed` if another name is typed
 */
export async function confirmByName(context: WriteContext, question: string, name: string): Promise<void> {
  if (context.globals.yes) return;
  const place = await nameLiveProfile(context);
  requirePerson(context, question, place);
  const { promptText } = await import("../../terminal/prompt.ts");
  const label = `${place}${question} Type ${name} to confirm:`;
  const typed = (await prompt(context, (terminal) => promptText(label, terminal))).trim();
  if (typed !== name) {
    const reason = typed === "" ? "no name was typed" : `${JSON.stringify(typed)} does not match ${name}`;
    throw failedError(`${reason}; nothing was changed`);
  }
  context.approval.isGiven = true;
}

/**
 * Asks for confirmation of an operation that destroys data or, on a live profile, replaces it, with the question from
 * the contract. Does nothing if the command has already confirmed a write.
 * @throws UserError as `confirmByName`
 */
export async function confirmOperation(
  context: WriteContext,
  { destroys, overwrites }: Pick<Endpoint, "destroys" | "overwrites">,
  input: Readonly<Record<string, unknown>>,
): Promise<void> {
  if (context.approval.isGiven) return;
  const isSet = (name: string) => input[name] !== undefined && input[name] !== false;
  const isOverwriting = overwrites !== undefined && (overwrites.ifAnyOf?.some((name) => isSet(name)) ?? true);
  const asked = destroys ?? (isOverwriting && (await context.profile()).isLive ? overwrites : undefined);
  if (!asked) return;
  const textOf = (name: string) => {
    const value = input[name];
    return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
  };
  const question = asked.question.replaceAll(/\{(\w+)\}/g, (found, name: string) => textOf(name) ?? found);
  const typed = destroys?.typed === undefined ? "" : (textOf(destroys.typed) ?? "");
  if (typed === "") await confirmDestruction(context, `${question}?`);
  else await confirmByName(context, `${question}.`, typed);
}

function requirePerson(context: PromptContext, question: string, place: string): void {
  if (canPrompt(context)) return;
  throw usageError(
    `cannot prompt for confirmation: ${place}${describeEffect(question)}`,
    "To skip the prompt, pass --yes.",
  );
}

/** A question as a statement about the command: `Cancel 2 emails? This cannot be undone.` as `this cancels 2 emails`. */
function describeEffect(question: string): string {
  const [verb = ""] = question.split(" ", 1);
  const end = question.lastIndexOf("?");
  if (end === -1 || !/^[A-Z][a-z]+$/.test(verb)) return question;
  const effect = `this ${inThirdPerson(verb.toLowerCase())}${question.slice(verb.length, end)}`;
  const consequence = question
    .slice(end + 1)
    .replace("This cannot be undone.", "")
    .trim();
  return consequence === "" ? effect : `${effect}. ${consequence}`;
}

function inThirdPerson(verb: string): string {
  if (/[^aeiou]y$/.test(verb)) return `${verb.slice(0, -1)}ies`;
  return /(?:ch|sh|s|x|z|o)$/.test(verb) ? `${verb}es` : `${verb}s`;
}

async function nameLiveProfile(context: Pick<WriteContext, "profile">): Promise<string> {
  const profile = await context.profile();
  return profile.isLive ? `${describeLiveProfile(profile)}: ` : "";
}
