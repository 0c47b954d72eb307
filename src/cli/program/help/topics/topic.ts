/** Help that is not about a single command. */
export interface Topic {
  readonly name: string;
  readonly summary: string;
  /** A string is a paragraph, `rows` are terms with descriptions, and `lines` are shown without wrapping. */
  readonly blocks: readonly Block[];
}

export type Block =
  | string
  | { readonly rows: readonly (readonly [string, string])[] }
  | { readonly lines: readonly string[] };
