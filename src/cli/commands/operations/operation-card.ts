import type { Auth, Destruction, Effect, ErrorKind, Listing, Overwriting } from "../../../contract/index.ts";

/** A field of an operation's input, as a flag or an argument. */
export interface FieldCard {
  /** The position in the input: one name, or two if the field is inside another. */
  readonly path: readonly string[];
  /**
   * - `switch`: on or off
   * - `list`: texts, one per flag
   * - `value`: a text, number, or boolean, as JSON where possible
   * - `json`: anything else, as JSON
   */
  readonly type: "text" | "number" | "switch" | "list" | "value" | "json";
  readonly isRequired?: true;
  /** Part of every path of the operation, and therefore a positional argument. */
  readonly isArgument?: true;
  readonly isSecret?: true;
  /** The flag names a file, whose content is sent in base64. */
  readonly isFile?: true;
  readonly oneOf?: readonly string[];
  /** Describes the permitted values. */
  readonly limits?: string;
}

/** An operation as a command: the data for its help, flags, and table, without the contract's schemas. */
export interface OperationCard {
  readonly summary: string;
  readonly method: string;
  readonly path: string;
  readonly auth: Auth;
  readonly effect: Effect;
  readonly fields: readonly FieldCard[];
  /** Fields of the response, or of each element of its list, that fit into a table cell. */
  readonly columns: readonly string[];
  /** The columns of a list that are empty without `details`. */
  readonly detailColumns?: readonly string[];
  readonly errors: readonly ErrorKind[];
  readonly listing?: Listing;
  readonly destroys?: Destruction;
  readonly overwrites?: Overwriting;
  readonly isExtension?: true;
  readonly returnsSecret?: true;
  /** Set if the command is `starpost api <operation>`: path fields are flags as well as arguments. */
  readonly isCalledByName?: true;
  /** Values that the command sends for fields that it has no flags for. */
  readonly preset?: Readonly<Record<string, unknown>>;
  /** Values that the command sends for fields that are not given. */
  readonly defaults?: Readonly<Record<string, unknown>>;
}
