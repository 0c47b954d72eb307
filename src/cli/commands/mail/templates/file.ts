import { UserError } from "../../../../config/user-error.ts";

/** A template as people edit it: three parts of one file. */
export interface TemplateParts {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

const partNames = ["subject", "text", "html"] as const;
type PartName = (typeof partNames)[number];

const heading = (name: PartName) => `=== ${name} ===`;
const headingPattern = /^=== *(subject|text|html) *===\s*$/;

const introduction = `Lines up to the first heading are not part of the mail.
{{ … }} puts in a value, {% … %} is a loop or a condition (Liquid); \`starpost mail templates preview\` shows what comes of it.
`;

export function writeTemplateFile(parts: TemplateParts): string {
  const sections = partNames.map((name) => `${heading(name)}\n${parts[name].replace(/\n?$/, "\n")}`);
  return `${introduction}\n${sections.join("\n")}`;
}

/** The parts, and the line of the file on which each begins, from 1. */
export interface ReadTemplate extends TemplateParts {
  readonly firstLines: Readonly<Record<PartName, number>>;
}

/**
 * Reads a file of three headed parts, in any order.
 * Assumed: empty lines at the end of a part, before the next heading, are none of it.
 * @throws UserError `usage`
 */
export function readTemplateFile(content: string, source: string): ReadTemplate {
  const lines = content.replace(/^\uFEFF/, "").split(/\r?\n/);
  const found = new Map<PartName, { readonly firstLine: number; readonly lines: string[] }>();
  let open: string[] = [];
  for (const [at, line] of lines.entries()) {
    const name = headingPattern.exec(line)?.[1] as PartName | undefined;
    if (name === undefined) {
      open.push(line);
      continue;
    }
    if (found.has(name))
      throw new UserError(
        "usage",
        `${source}:${at + 1}: ${heading(name)} is there twice`,
        "Keep one of them.",
      );
    open = [];
    found.set(name, { firstLine: at + 2, lines: open });
  }
  const missing = partNames.find((name) => !found.has(name));
  if (missing) {
    throw new UserError(
      "usage",
      `${source}: the line ${heading(missing)} is missing`,
      "A template has three headed parts; --print writes one to begin with.",
    );
  }
  const read = (name: PartName) => found.get(name) ?? { firstLine: 1, lines: [] };
  const partOf = (name: PartName) => read(name).lines.join("\n").replace(/\n*$/, "\n");
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

/** Turns the place within a part, as the service words it, into that within the file. */
export function placeInFile(message: string, { firstLines }: ReadTemplate, source: string): string {
  const placed = /^(subject|text|html), line (\d+), column (\d+): (.*)$/s.exec(message);
  if (!placed) return `${source}: ${message}`;
  const [, name = "subject", line, column, says] = placed;
  return `${source}:${firstLines[name as PartName] + Number(line) - 1}:${column}: ${says} (${name})`;
}
