import { readFile } from "node:fs/promises";
import mjml2html from "mjml";

const source = "src/email/templates/built-in/frame.mjml";

/** The module that exports the compiled frame. */
export const frameModule = "src/email/templates/built-in/frame-html.ts";

/**
 * Compiles the frame of emails from MJML to Liquid.
 * @throws Error if the MJML is invalid
 */
export async function writeFrameModule(): Promise<string> {
  const { html, errors } = await mjml2html(await readFile(source, "utf8"), { keepComments: false });
  // Colors and directions are Liquid variables, which MJML does not know.
  const faults = errors.filter(({ message }) => !message.includes("{{"));
  if (faults.length > 0) throw new Error(faults.map(({ formattedMessage }) => formattedMessage).join("\n"));
  const compact = html
    .trim()
    .replace("<!doctype", "<!DOCTYPE")
    .replaceAll(/\s*\n\s*/g, "\n");
  return `/** The frame of emails, in Liquid. Generated from frame.mjml by \`npm run generate\`. */
export const frameHtml = \`${compact}
\`;
`;
}
