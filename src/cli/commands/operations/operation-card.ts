import type { Auth, Destruction, Effect, ErrorKind, Listing } from "../../../contract/index.ts";

/** A field of a call's input, as a flag or an argument. */
export interface FieldCard {
  /** Where it stands in the input: one name, or two where it is inside of another. */
  readonly path: readonly string[];
  /**
   * - `switch`: yes or no
   * - `list`: texts, one a flag
   * - `value`: text, number or truth, as it is written
   * - `json`: anything else, as JSON
   */
  readonly type: "text" | "number" | "switch" | "list" | "value" | "json";
  readonly isRequired?: true;
  /** In every path of the call, so that it is an argument. */
  readonly isArgument?: true;
  readonly isSecret?: true;
  readonly oneOf?: readonly string[];
  /** What its values may be, in words. */
  readonly limits?: string;
}

/** A call of the contract as a command: what its help, its flags and its table are made of, without the contract's shapes. */
export interface OperationCard {
  readonly summary: string;
  readonly method: string;
  readonly path: string;
  readonly auth: Auth;
  readonly effect: Effect;
  readonly fields: readonly FieldCard[];
  /** Fields of the answer, or of each element of its list, that fit into a cell. */
  readonly columns: readonly string[];
  readonly errors: readonly ErrorKind[];
  readonly listing?: Listing;
  readonly destroys?: Destruction;
  readonly isExtension?: true;
  readonly answersSecret?: true;
}
