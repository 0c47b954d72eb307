import { readFile } from "node:fs/promises";
import mjml2html from "mjml";

const source = "src/email/templates/built-in/frame.mjml";

/** The module that exports the compiled frame. */
export const frameModule = "src/email/templates/built-in/frame-html.ts";

/** What MJML writes for several columns, Outlook 2003, and Internet Explorer. Each email contains it. */
const unneeded: readonly (readonly [RegExp, string])[] = [
  [/<!--\[if !mso\]><!-->\s*<meta http-equiv="X-UA-Compatible"[^>]*>\s*<!--<!\[endif\]-->/g, ""],
  [/<!--\[if lte mso 11\]>.*?<!\[endif\]-->/gs, ""],
  [/<style[^>]*>[^<]*\.mj-column-per-100[^<]*<\/style>/g, ""],
  [/ class="mj-column-per-100 mj-outlook-group-fix"/g, ""],
  [/background:([^;"]+);background-color:\1;/g, "background-color:$1;"],
];

/**
 * Compiles the frame of emails from MJML to Liquid.
 * @throws Error if the MJML is invalid
 */
export async function writeFrameModule(): Promise<string> {
  const { html, errors } = await mjml2html(await readFile(source, "utf8"), { keepComments: false });
  // Colors and directions are Liquid variables, which MJML does not know.
  const faults = errors.filter(({ message }) => !message.includes("{{"));
  if (faults.length > 0) throw new Error(faults.map(({ formattedMessage }) => formattedMessage).join("\n"));
  const compact = unneeded
    .reduce((text, [pattern, replacement]) => text.replaceAll(pattern, replacement), html.trim())
    .replace("<!doctype", "<!DOCTYPE")
    .replaceAll(/\s*\n\s*/g, "\n");
  return `/** The frame of emails, in Liquid. Generated from frame.mjml by \`npm run generate\`. */
export const frameHtml = \`${compact}
\`;
`;
}
