/** A text of the help that is about no single command. */
export interface Topic {
  readonly name: string;
  readonly summary: string;
  /** A text is a paragraph; `rows` are names with what they mean; `lines` are shown as they stand. */
  readonly blocks: readonly Block[];
}

export type Block =
  | string
  | { readonly rows: readonly (readonly [string, string])[] }
  | { readonly lines: readonly string[] };
