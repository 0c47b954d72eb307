import { usageError } from "../../../config/user-error.ts";
import type { FieldCard, OperationCard } from "./operation-card.ts";
import { flagNameOf, isPageLimit, readField } from "./operation-flags.ts";

/** The profile's account, which some operations need in their input. */
export interface OwnAccount {
  readonly appKey: string;
  readonly secret: string | undefined;
}

/** The values of the fields that the profile supplies. */
const ownFields: Readonly<Record<string, (own: OwnAccount) => string | undefined>> = {
  client_id: ({ appKey }) => appKey,
  client_secret: ({ secret }) => secret,
  secret: ({ secret }) => secret,
  grant_type: () => "client_credentials",
};

type Fields = Readonly<Record<string, unknown>>;

interface InputSources {
  readonly arguments: readonly string[];
  readonly flags: Fields;
  /** The contents of the `--input` file. */
  readonly file: Fields;
  readonly own: OwnAccount;
  readonly password: string | undefined;
}

/**
 * Builds the input of an operation. Arguments and flags take precedence over `--input`.
 * @throws UserError `usage` naming the flags of missing fields
 */
export function readInput(card: OperationCard, sources: InputSources): Fields {
  const input: Record<string, unknown> = { ...card.defaults, ...sources.file };
  const positional = card.fields.filter(({ isArgument }) => isArgument);
  for (const field of card.fields) {
    const text = sources.arguments[positional.indexOf(field)];
    const value = text === undefined ? findValue(card, field, sources) : readField(field, text, nameOf(field));
    if (value !== undefined) put(input, field.path, value);
  }
  Object.assign(input, card.preset);
  const missing = card.fields.filter((field) => field.isRequired && !isPresent(input, field.path));
  if (missing.length === 0) return input;
  const isFlag = (field: FieldCard) => !field.isSecret && (!field.isArgument || card.isCalledByName);
  const names = missing.map((field) => (isFlag(field) ? `--${flagNameOf(field, card)}` : nameOf(field)));
  throw usageError(
    `missing required ${names.length === 1 ? "value" : "values"}: ${names.join(", ")}`,
    "Pass each of them, or pass all fields in a file with --input. --help describes the fields.",
  );
}

const nameOf = ({ path }: FieldCard) => `<${path.join("_")}>`;

function findValue(card: OperationCard, field: FieldCard, sources: InputSources): unknown {
  if (isPageLimit(field)) return undefined;
  const { flags, own, password, file } = sources;
  const value = field.isSecret ? undefined : flags[flagNameOf(field, card)];
  if (value !== undefined || isPresent(file, field.path)) return value;
  const name = field.path.join(".");
  if (Object.hasOwn(ownFields, name)) return ownFields[name]?.(own);
  // Optional secrets, such as an invitation code, come from a file.
  return field.isSecret && field.isRequired ? password : undefined;
}

function isPresent(input: Fields, [outer = "", inner]: readonly string[]): boolean {
  const value = input[outer];
  if (inner === undefined) return value !== undefined;
  return typeof value === "object" && value !== null && (value as Fields)[inner] !== undefined;
}

function put(input: Record<string, unknown>, [outer = "", inner]: readonly string[], value: unknown): void {
  if (inner === undefined) input[outer] = value;
  else input[outer] = { ...(input[outer] as Fields | undefined), [inner]: value };
}
