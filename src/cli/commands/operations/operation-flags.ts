import { UserError, usageError } from "../../../config/user-error.ts";
import type { ArgumentHelp } from "../../program/command.ts";
import type { Flag, Flags } from "../../program/flag.ts";
import { limitFlag, readCount, readOneOf, readTime, readWholeNumber } from "../../program/flag-values.ts";
import { parseUserJson } from "./input-file.ts";
import { describeField } from "./field-descriptions.ts";
import type { FieldCard, OperationCard } from "./operation-card.ts";

/** Fields that identify the caller, which the profile knows. */
const ownFieldNames: ReadonlySet<string> = new Set(["client_id", "client_secret", "secret", "grant_type"]);

/** Flags whose name differs from that of the field. */
const flagNames: Readonly<Record<string, string>> = { coupon_action: "action", fields: "field", words: "word" };

/** Whether the profile supplies a field. */
export function isOwn({ path }: FieldCard): boolean {
  return ownFieldNames.has(path.join("."));
}

/** Whether a field is the page size under the name `limit`, which is the name of the flag for the number of results. */
export function isPageLimit({ path }: FieldCard): boolean {
  return path.join(".") === "limit";
}

/** Whether an operation needs a secret that the profile does not know. */
export function needsPassword({ fields }: OperationCard): boolean {
  return fields.some((field) => field.isSecret && !isOwn(field));
}

/** Whether an operation needs the account's own credentials in its input. */
export function needsOwnAccount({ fields }: OperationCard): boolean {
  return fields.some((field) => field.isRequired && isOwn(field));
}

/** The flag of a field, without dashes. The outer name is omitted if all fields have the same one. */
export function flagNameOf({ path }: FieldCard, { fields }: OperationCard): string {
  const isOnlyGroup = new Set(fields.map((field) => field.path[0])).size === 1;
  const parts = isOnlyGroup ? path.slice(-1) : path;
  const name = parts.join("_");
  return flagNames[name] ?? name.replaceAll("_", "-");
}

/** One flag per field, `--input` for all fields together, and `--limit` for lists. */
export function flagsOf(operation: string, card: OperationCard): Flags {
  const fields = card.fields.filter((field) => !field.isSecret && !isPageLimit(field));
  const flags = fields
    .filter((field) => field.isArgument !== true || card.isCalledByName)
    .flatMap((field) => describeFlags(operation, card, field));
  const input: Flag = {
    value: "<file>",
    description: "read the fields as one JSON object from a file (- for standard input)",
    read: String,
  };
  return {
    ...Object.fromEntries(flags),
    ...(flags.length > 0 && { input }),
    ...(needsPassword(card) && {
      "password-stdin": { description: "read the password from standard input" },
    }),
    ...(card.listing && { limit: limitFlag }),
  };
}

/** The arguments of an operation as shown in its help, or undefined if it has none. */
export function argumentOf({ fields, isCalledByName }: OperationCard): string | undefined {
  const names = fields.filter(({ isArgument }) => isArgument).map(({ path }) => path.join("_"));
  if (names.length === 0) return undefined;
  return names.map((name) => (isCalledByName ? `[${name}]` : `<${name}>`)).join(" ");
}

/** The description of each argument, with its permitted values. */
export function describeArguments(
  operation: string,
  { fields }: OperationCard,
): Readonly<Record<string, ArgumentHelp>> {
  const notes = fields
    .filter(({ isArgument }) => isArgument)
    .map((field) => {
      const note = { description: describeWithLimits(operation, field), values: field.oneOf };
      return [field.path.join("_"), note] as const;
    });
  return Object.fromEntries(notes);
}

/**
 * Reads a field's value from the command line.
 * @param source the flag or argument, for the error message
 * @throws UserError `usage`
 */
export function readField(field: FieldCard, text: string, source: string): unknown {
  if (field.oneOf) readOneOf(text, field.oneOf, source);
  if (field.type === "number")
    return ["page", "count", "size"].includes(field.path.join("."))
      ? readWholeNumber(text, source)
      : readCount(text, source);
  if (field.limits?.startsWith("YYYY-MM-DD")) return readTime(text, source);
  if (field.type === "value") return parseOr(text, () => text);
  if (field.type !== "json") return text;
  return parseOr(text, () => {
    const hint = `Quote it for the shell: ${source} '{"…": …}'. To read long values from a file, use --input.`;
    throw usageError(`invalid value for ${source}: not valid JSON`, hint);
  });
}

function describeFlags(operation: string, card: OperationCard, field: FieldCard): [string, Flag][] {
  const name = flagNameOf(field, card);
  // A path field may be an argument instead.
  const isRequired = field.isRequired && !field.isArgument && !isOwn(field);
  const required = isRequired && { requiredUnless: "input" };
  const description = describeWithLimits(operation, field);
  if (field.type === "switch") {
    return [
      [name, { description, ...required }],
      [`no-${name}`, { description: `the opposite of --${name}` }],
    ];
  }
  const flag: Flag = {
    value: field.isFile ? "<file>" : `<${valueNames[field.type]}>`,
    description,
    ...required,
    read: (text: string, source: string) => readField(field, text, source),
    ...(field.type === "list" && { isRepeatable: true }),
    ...(field.oneOf && { values: field.oneOf }),
  };
  return [[name, flag]];
}

function describeWithLimits(operation: string, field: FieldCard): string {
  const { oneOf, limits, type, path } = field;
  const format = type === "json" ? "JSON" : undefined;
  const details = [oneOf?.join(", "), field.isFile ? undefined : limits, format].filter((text) => text !== undefined);
  const description = describeField(operation, path);
  return details.length > 0 ? `${description} (${details.join("; ")})` : description;
}

const valueNames = {
  text: "text",
  number: "n",
  switch: "",
  list: "text",
  value: "value",
  json: "json",
} as const;

function parseOr(text: string, otherwise: () => unknown): unknown {
  try {
    return parseUserJson(text);
  } catch (error) {
    if (error instanceof UserError) throw error;
    return otherwise();
  }
}
