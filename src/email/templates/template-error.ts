import type { EmailTemplate } from "../outgoing-email.ts";

export type TemplatePart = keyof EmailTemplate;

/** What is wrong with a part of a template, and where, as its writer has to know. */
export class TemplateError extends Error {
  override readonly name = "TemplateError";
  readonly part: TemplatePart;
  /** From 1; absent where the part as a whole is meant. */
  readonly line: number | undefined;
  readonly column: number | undefined;
  /** What is wrong, without the place. */
  readonly says: string;

  constructor(part: TemplatePart, says: string, place?: { readonly line: number; readonly column: number }) {
    super(place ? `${part}, line ${place.line}, column ${place.column}: ${says}` : `${part}: ${says}`);
    this.part = part;
    this.line = place?.line;
    this.column = place?.column;
    this.says = says;
  }
}
