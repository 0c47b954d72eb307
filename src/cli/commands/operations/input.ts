import { UserError } from "../../../config/user-error.ts";
import type { ArgumentHelp, Flag, Flags } from "../../program/command.ts";
import { describeField } from "./field-descriptions.ts";
import { readCount } from "../../program/flag-values.ts";
import { parseUserJson } from "../../program/user-json.ts";
import type { FieldCard, OperationCard } from "./operation-card.ts";
import { flagNameOf } from "./names.ts";

/** The profile's own account, which some calls are about. */
export interface OwnAccount {
  readonly appKey: string;
  readonly secret: string | undefined;
}

/** Fields that say who calls: the profile knows them. */
const ownFields: Readonly<Record<string, (own: OwnAccount) => string | undefined>> = {
  client_id: ({ appKey }) => appKey,
  client_secret: ({ secret }) => secret,
  secret: ({ secret }) => secret,
  grant_type: () => "client_credentials",
};

/** Whether a field is a flag: not what is an argument, what the profile knows, or how large a page is by the name of `--limit`. */
function isFlag(field: FieldCard): boolean {
  return field.isArgument !== true && field.isSecret !== true && !isPageLimit(field);
}

function isPageLimit({ path }: FieldCard): boolean {
  return path.join(".") === "limit";
}

/** Whether all fields are inside of one, so that their flags need not name it. */
export function isOnlyInside({ fields }: OperationCard): boolean {
  return new Set(fields.map(({ path }) => path[0])).size === 1;
}

/** The flags of a call: one a field, and `--input` for all of them together. */
export function flagsOf(operation: string, card: OperationCard): Flags {
  const given = card.fields.filter(isFlag).flatMap((field) => describeFlags(operation, card, field));
  const whole: Flag = {
    value: "<file>",
    description: "read the fields as one JSON object from a file (- is standard input)",
  };
  const limit: Flag = {
    value: "<n>",
    description: "stop after so many; all of them where absent",
    read: readLimit,
  };
  return {
    ...Object.fromEntries(given),
    ...(given.length > 0 && { input: whole }),
    ...(needsPassword(card) && {
      "password-stdin": { description: "read the password from standard input" },
    }),
    ...(card.listing && { limit }),
  };
}

function readLimit(text: string, flag: string): number {
  const limit = readCount(text, flag);
  if (limit > 0) return limit;
  throw new UserError("usage", `${flag}: 0 is nothing`, "Leave it out for all.");
}

/** Whether the profile knows a field by itself. */
export function isOwn({ path }: FieldCard): boolean {
  return Object.hasOwn(ownFields, path.join("."));
}

function describeFlags(operation: string, card: OperationCard, field: FieldCard): [string, Flag][] {
  const name = flagNameOf(field.path, isOnlyInside(card));
  const isNeeded = field.isRequired && !isOwn(field);
  const description = describeLimits(operation, field);
  const required = isNeeded && { requiredUnless: "input" };
  if (field.type === "switch")
    return [
      [name, { description, ...required }],
      [`no-${name}`, { description: `the opposite of --${name}` }],
    ];
  const read = (text: string, flag: string) => readField(field, text, flag);
  const isRepeatable = field.type === "list";
  const more = { ...(isRepeatable && { isRepeatable }), ...(field.oneOf && { values: field.oneOf }) };
  return [[name, { value: `<${takenBy[field.type]}>`, description, ...required, read, ...more }]];
}

const takenBy = {
  text: "text",
  number: "n",
  switch: "",
  list: "text",
  value: "value",
  json: "json",
} as const;
/** The description of a field, followed by the values it accepts. */
function describeLimits(operation: string, { path, type, oneOf, limits }: FieldCard): string {
  const details = [oneOf?.join(", "), limits, type === "json" ? "JSON" : undefined].filter(
    (detail) => detail !== undefined,
  );
  const description = describeField(operation, path);
  return details.length > 0 ? `${description} (${details.join("; ")})` : description;
}

/** A field's value, from the command line. */
function readField(field: FieldCard, text: string, where: string): unknown {
  if (field.oneOf && !field.oneOf.includes(text)) {
    throw new UserError(
      "usage",
      `${where}: ${JSON.stringify(text)} is not one of those there are`,
      `There are: ${field.oneOf.join(", ")}.`,
      undefined,
      { given: text, known: field.oneOf },
    );
  }
  if (field.type === "number") return readCount(text, where);
  if (field.type === "value") return parseOr(text, () => text);
  if (field.type !== "json") return text;
  return parseOr(text, () => {
    const hint = `Quote it for the shell: ${where} '{"…": …}'. Long values are read from a file by --input.`;
    throw new UserError("usage", `${where}: the value is not JSON`, hint);
  });
}

function parseOr(text: string, otherwise: () => unknown): unknown {
  try {
    return parseUserJson(text);
  } catch (error) {
    if (error instanceof UserError) throw error;
    return otherwise();
  }
}

/** Whether a call is about the profile's own account by its secret. */
export function needsOwnAccount({ fields }: OperationCard): boolean {
  return fields.some((field) => field.isRequired && isOwn(field));
}

/** Whether a secret is wanted that the profile does not know. */
export function needsPassword({ fields }: OperationCard): boolean {
  return fields.some((field) => field.isSecret && !isOwn(field));
}

/** The arguments of a call as the help names them, or nothing where it has none. */
export function argumentOf({ fields }: OperationCard): string | undefined {
  const names = fields.filter(({ isArgument }) => isArgument).map(({ path }) => `<${path.join("_")}>`);
  return names.length > 0 ? names.join(" ") : undefined;
}

/** The arguments of a call in words, with what they may be. */
export function describeArguments(
  operation: string,
  { fields }: OperationCard,
): Readonly<Record<string, ArgumentHelp>> {
  const notes = fields
    .filter(({ isArgument }) => isArgument)
    .map((field) => {
      const { path } = field;
      return [
        path.join("_"),
        { description: describeLimits(operation, field), values: field.oneOf },
      ] as const;
    });
  return Object.fromEntries(notes);
}

interface Given {
  readonly arguments: readonly string[];
  readonly flags: Readonly<Record<string, unknown>>;
  /** What `--input` holds. */
  readonly whole: Readonly<Record<string, unknown>>;
  readonly own: OwnAccount;
  readonly password: string | undefined;
}

/**
 * The input of a call: what the file of `--input` says, and over it arguments and flags.
 * @throws UserError `usage` where a field is missing, naming its flag
 */
export function readInput(card: OperationCard, given: Given): Readonly<Record<string, unknown>> {
  const input: Record<string, unknown> = { ...given.whole };
  const positions = card.fields.filter(({ isArgument }) => isArgument);
  for (const field of card.fields) {
    const at = positions.indexOf(field);
    const value =
      at === -1 ? valueOf(card, field, given) : readField(field, given.arguments[at] ?? "", nameOf(field));
    if (value !== undefined) put(input, field.path, value);
  }
  const missing = card.fields.filter((field) => field.isRequired && !isThere(input, field.path));
  if (missing.length === 0) return input;
  const flags = missing.map((field) =>
    isFlag(field) ? `--${flagNameOf(field.path, isOnlyInside(card))}` : nameOf(field),
  );
  throw new UserError(
    "usage",
    `${flags.join(", ")} ${flags.length === 1 ? "is" : "are"} missing`,
    "Give each of them, or all fields in a file with --input; --help says what they are.",
  );
}

const nameOf = ({ path }: FieldCard) => `<${path.join("_")}>`;

function valueOf(card: OperationCard, field: FieldCard, { flags, own, password, whole }: Given): unknown {
  if (isPageLimit(field)) return undefined;
  const given = field.isSecret ? undefined : flags[flagNameOf(field.path, isOnlyInside(card))];
  if (given !== undefined || isThere(whole, field.path)) return given;
  const name = field.path.join(".");
  return Object.hasOwn(ownFields, name) ? ownFields[name]?.(own) : field.isSecret ? password : undefined;
}

function isThere(input: Readonly<Record<string, unknown>>, [name = "", inside]: readonly string[]): boolean {
  const held = input[name];
  if (inside === undefined) return held !== undefined;
  return typeof held === "object" && held !== null && (held as Record<string, unknown>)[inside] !== undefined;
}

function put(input: Record<string, unknown>, [name = "", inside]: readonly string[], value: unknown): void {
  if (inside === undefined) input[name] = value;
  else input[name] = { ...(input[name] as Record<string, unknown> | undefined), [inside]: value };
}
