import type { EmailTemplate } from "../outgoing-email.ts";

export type TemplatePart = keyof EmailTemplate;

export class TemplateError extends Error {
  override readonly name = "TemplateError";
  /** `template` if the part is not known. */
  readonly part: TemplatePart | "template";
  /** Starting at 1; undefined if the error concerns the complete part. */
  readonly line: number | undefined;
  readonly column: number | undefined;
  /** The problem, without the position. */
  readonly problem: string;

  constructor(
    part: TemplatePart | "template",
    problem: string,
    place?: { readonly line: number; readonly column: number },
  ) {
    super(place ? `${part}, line ${place.line}, column ${place.column}: ${problem}` : `${part}: ${problem}`);
    this.part = part;
    this.line = place?.line;
    this.column = place?.column;
    this.problem = problem;
  }
}
