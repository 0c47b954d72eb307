import { resolve } from "node:path";
import { writeFile } from "node:fs/promises";
import { readFileIfThere } from "../../../../config/private-file.ts";
import { toFileError } from "../../../../config/user-error.ts";
import type { EmailCategory } from "../../../../contract/index.ts";
import type { Service } from "../../../../service/service.ts";
import type { Context } from "../../../program/context.ts";
import { previewMarker, renderEmailPreview } from "../../../../pages/email-preview-page.ts";
import { confirm } from "../../../program/confirm.ts";
import { placed, readSource } from "./run.ts";
import { readTemplateFile } from "./file.ts";

export interface PreviewRequest {
  readonly category: EmailCategory;
  /** Where the page goes. */
  readonly out: string | undefined;
  /** A template that is not stored; `-` is standard input. */
  readonly file: string | undefined;
}

export interface Preview {
  readonly category: EmailCategory;
  readonly subject: string;
  readonly preview_file: string;
}

/**
 * Writes a page that shows what a template makes of data that is made up.
 * Assumed: a page that was written so before is replaced without a question; any other file is asked about.
 */
export async function previewTemplate(
  context: Context,
  service: Service,
  { category, out = `mail-${category}.html`, file }: PreviewRequest,
): Promise<Preview> {
  const mail = await makePreview(context, service, category, file);
  const path = resolve(context.io.cwd, out);
  const there = await readFileIfThere(path);
  if (there !== undefined && !there.includes(previewMarker)) {
    await confirm(context, `${out} is there. Overwrite it?`);
  }
  await writeFile(path, renderEmailPreview(category, mail)).catch((error: unknown) => {
    throw toFileError(error, out);
  });
  return { category, subject: mail.subject, preview_file: path };
}

async function makePreview(
  context: Context,
  service: Service,
  category: EmailCategory,
  file: string | undefined,
) {
  if (file === undefined) return (await service.emailTemplates.preview({ category })).mail;
  const source = file === "-" ? "standard input" : file;
  const read = readTemplateFile(await readSource(context, file), source);
  const { subject, text, html } = read;
  try {
    return (await service.emailTemplates.preview({ category, subject, text, html })).mail;
  } catch (error) {
    throw placed(error, read, source);
  }
}
