import { resolve } from "node:path";
import { writeFile } from "node:fs/promises";
import { readFileIfExists } from "../../../../config/private-file.ts";
import { toFileError } from "../../../../config/user-error.ts";
import type { SentEmailCategory } from "../../../../contract/index.ts";
import type { Service } from "../../../../service/service.ts";
import type { Context } from "../../../program/context.ts";
import { previewMarker, renderEmailPreview } from "../../../../pages/email-preview-page.ts";
import { confirm } from "../../../program/confirm.ts";
import { locateError, readSource, parseTemplateFile } from "./edit-run.ts";

interface PreviewFiles {
  readonly out?: string | undefined;
  /** A template file to preview instead of the stored template; `-` for standard input. */
  readonly file?: string | undefined;
}

/**
 * Renders a template with sample data to an HTML page.
 * Assumed: an earlier preview is overwritten without confirmation; any other file requires it.
 */
export async function previewTemplate(
  context: Context,
  service: Service,
  category: SentEmailCategory,
  { out = `mail-${category}.html`, file }: PreviewFiles,
) {
  const mail = await renderTemplate(context, service, category, file);
  const path = resolve(context.io.cwd, out);
  const existing = await readFileIfExists(path);
  if (existing !== undefined && !existing.includes(previewMarker)) {
    await confirm(context, `Overwrite ${out}, which already exists?`);
  }
  await writeFile(path, renderEmailPreview(category, mail)).catch((error: unknown) => {
    throw toFileError(error, out);
  });
  return { category, subject: mail.subject, preview_file: path };
}

async function renderTemplate(
  context: Context,
  service: Service,
  category: SentEmailCategory,
  file: string | undefined,
) {
  if (file === undefined) return (await service.emailTemplates.preview({ category })).mail;
  const source = file === "-" ? "standard input" : file;
  const parsed = parseTemplateFile(await readSource(context, file), source);
  const { subject, text, html } = parsed;
  try {
    return (await service.emailTemplates.preview({ category, subject, text, html })).mail;
  } catch (error) {
    throw locateError(error, parsed, source);
  }
}
