import type { ServiceError } from "../../../../contract/errors.ts";
import { usageError } from "../../../../config/user-error.ts";

/** The parts of a template, which are sections of one file while it is edited. */
export interface TemplateParts {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

const partNames = ["subject", "text", "html"] as const;
type PartName = (typeof partNames)[number];

const heading = (name: PartName) => `=== ${name} ===`;
const headingPattern = /^=== *(subject|text|html) *===\s*$/;

const introduction = `Lines before the first heading are not part of the email.
{{ … }} inserts a value, {% … %} is a loop or a condition (Liquid). To preview the email, run \`starpost mail templates preview\`.
`;

export function formatTemplateFile(parts: TemplateParts): string {
  const sections = partNames.map((name) => `${heading(name)}\n${parts[name].replace(/\n?$/, "\n")}`);
  return `${introduction}\n${sections.join("\n")}`;
}

/** The parts, and the line of the file on which each starts, counted from 1. */
export interface ParsedTemplate extends TemplateParts {
  readonly firstLines: Readonly<Record<PartName, number>>;
}

/**
 * Parses a template file. The parts may be in any order.
 * Assumed: empty lines before the next heading do not belong to the part.
 * @throws UserError `usage`
 */
export function parseTemplateFile(content: string, source: string): ParsedTemplate {
  const lines = content.replace(/^\uFEFF/, "").split(/\r?\n/);
  const parts = new Map<PartName, { readonly firstLine: number; readonly lines: string[] }>();
  let section: string[] = [];
  for (const [at, line] of lines.entries()) {
    const name = headingPattern.exec(line)?.[1] as PartName | undefined;
    if (name === undefined) {
      section.push(line);
      continue;
    }
    if (parts.has(name))
      throw usageError(`${source}:${at + 1}: duplicate heading ${heading(name)}`, "Remove one of them.");
    section = [];
    parts.set(name, { firstLine: at + 2, lines: section });
  }
  const missing = partNames.find((name) => !parts.has(name));
  if (missing) {
    throw usageError(
      `${source}: missing heading ${heading(missing)}`,
      "A template has three parts with headings. To print an example, use --print.",
    );
  }
  const read = (name: PartName) => parts.get(name) ?? { firstLine: 1, lines: [] };
  const partOf = (name: PartName) =>
    read(name)
      .lines.join("\n")
      .replace(/(?<!\n)\n*$/, "\n");
  return {
    subject: partOf("subject").trim(),
    text: partOf("text"),
    html: partOf("html"),
    firstLines: {
      subject: read("subject").firstLine,
      text: read("text").firstLine,
      html: read("html").firstLine,
    },
  };
}

/** Describes an error of a template with its position in the file, as far as it is known. */
export function locateInFile(
  { message, position }: Pick<ServiceError, "message" | "position">,
  { firstLines }: ParsedTemplate,
  source: string,
): string {
  const name = partNames.find((part) => part === position?.field);
  if (name === undefined || !position) return `${source}: ${message}`;
  return `${source}:${firstLines[name] + position.line - 1}:${position.column}: ${position.problem} (${name})`;
}
