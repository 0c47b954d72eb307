import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text as readAll } from "node:stream/consumers";
import { codeOf, failedError, toFileError, usageError, UserError } from "../../../../config/user-error.ts";
import { readVariable } from "../../../../config/environment.ts";
import { ServiceError } from "../../../../contract/errors.ts";
import type { SentEmailCategory } from "../../../../contract/emails/categories.ts";
import { CallPreviewed } from "../../../../service/call-preview.ts";
import type { Service } from "../../../../service/service.ts";
import type { Context } from "../../../program/context.ts";
import { canPrompt, prompt } from "../../../program/prompt.ts";

export interface EditRequest {
  readonly category: SentEmailCategory;
  /** A file to read instead of opening an editor; `-` for standard input. */
  readonly file: string | undefined;
  /** Whether to start from the built-in template. */
  readonly isBuiltIn: boolean;
}

type SavedTemplate = Awaited<ReturnType<Service["emailTemplates"]["set"]>>["template"];

/**
 * Replaces the template of a category with one from a file or an editor.
 * @returns the stored template
 * @throws UserError; ServiceError
 */
export async function editTemplate(context: Context, service: Service, request: EditRequest): Promise<SavedTemplate> {
  const { category, file } = request;
  if (file === undefined) return editInEditor(context, service, request);
  const source = file === "-" ? "standard input" : file;
  return save(service, category, parseTemplateFile(await readSource(context, file), source), source);
}

export async function readSource({ io }: Context, file: string): Promise<string> {
  if (file === "-") return readAll(io.stdin);
  const path = resolve(io.cwd, file);
  return readFile(path, "utf8").catch((error: unknown) => {
    if (codeOf(error) === "ENOENT")
      throw usageError(`file not found: ${file}`, "Check the path. For standard input, use -.", error);
    throw toFileError(error, file);
  });
}

async function save(
  service: Service,
  category: SentEmailCategory,
  parsed: ParsedTemplate,
  source: string,
): Promise<SavedTemplate> {
  const { subject, text, html } = parsed;
  try {
    return (await service.emailTemplates.set({ category, subject, text, html })).template;
  } catch (error) {
    throw locateError(error, parsed, source);
  }
}

/** Reports an invalid template with the position in its file. */
export function locateError(error: unknown, parsed: ParsedTemplate, source: string): unknown {
  if (!(error instanceof ServiceError) || error.kind !== "invalidParams") return error;
  return usageError(locateInFile(error, parsed, source), undefined, error);
}

async function editInEditor(
  context: Context,
  service: Service,
  { category, isBuiltIn }: EditRequest,
): Promise<SavedTemplate> {
  const editor = findEditor(context);
  const { template } = await service.emailTemplates.get({ category, built_in: isBuiltIn });
  const before = formatTemplateFile(template);
  const folder = await mkdtemp(join(tmpdir(), "starpost-template-"));
  const path = join(folder, `${category}.liquid`);
  await writeFile(path, before, { mode: 0o600 });
  for (;;) {
    await openEditor(context, editor, path);
    const after = await readFile(path, "utf8");
    // Saving a disabled template enables it.
    const isUnchanged = after === before && template.disabled_at === undefined;
    if (isUnchanged) context.messages.info("No changes.");
    try {
      const saved = isUnchanged ? template : await save(service, category, parseTemplateFile(after, path), path);
      await rm(folder, { recursive: true, force: true });
      return saved;
    } catch (error) {
      if (error instanceof CallPreviewed) await rm(folder, { recursive: true, force: true });
      if (error instanceof CallPreviewed) throw error;
      if (!(await confirmRetry(context, error))) throw keepText(error, path, category);
    }
  }
}

/** How long an editor may take to restore the terminal. */
const editorStopMs = 1_000;

async function confirmRetry(context: Context, error: unknown): Promise<boolean> {
  if (!(error instanceof UserError) || error.kind !== "usage" || !canPrompt(context)) return false;
  context.messages.warn(error.message);
  const { promptYesNo } = await import("../../../../terminal/prompt.ts");
  return prompt(context, (terminal) => promptYesNo("The template was not saved. Edit it again?", terminal));
}

/** Names the file with the edited text, so that it is not lost when the template is rejected. */
function keepText(error: unknown, path: string, category: SentEmailCategory): unknown {
  if (!(error instanceof Error)) return error;
  const command = `starpost mail templates edit ${category} --file ${path}`;
  const kind = error instanceof UserError ? error.kind : "failed";
  return new UserError(
    kind,
    error.message,
    `Nothing was saved. Your text is in ${path}. Correct it, then run \`${command}\`.`,
    error,
  );
}

function findEditor({ io }: Context): string {
  const editor = readVariable(io.env, "VISUAL") ?? readVariable(io.env, "EDITOR");
  if (editor !== undefined) return editor;
  throw usageError(
    "no editor configured",
    "Set VISUAL or EDITOR, or edit the output of --print and pass it with --file.",
  );
}

/**
 * Uses a shell, because the variable may contain arguments. The editor writes to stderr, since stdout is for data. It
 * receives Ctrl-C itself, and is ended by other signals, so that it restores the terminal.
 */
async function openEditor({ io: { signals } }: Context, editor: string, path: string): Promise<void> {
  let child: ChildProcess | undefined;
  let isStopped = false;
  const stop = () => {
    isStopped = true;
    child?.kill();
    setTimeout(() => child?.kill("SIGKILL"), editorStopMs).unref();
  };
  const ignore = () => {};
  // Before the editor starts, because a signal may arrive as soon as it runs.
  signals.on("SIGINT", ignore);
  for (const name of ["SIGTERM", "SIGHUP"] as const) signals.on(name, stop);
  const status = await new Promise<number | null>((ended, failed) => {
    child = spawn(`${editor} "${path}"`, { shell: true, stdio: [0, 2, 2] });
    child.once("error", failed).once("exit", ended);
  }).finally(() => {
    signals.off("SIGINT", ignore);
    for (const name of ["SIGTERM", "SIGHUP"] as const) signals.off(name, stop);
  });
  const hint = `Nothing was saved. Your text is in ${path}.`;
  if (isStopped) throw new UserError("interrupted", "interrupted in the editor", hint);
  if (status !== 0) {
    const reason = status === null ? "stopped by a signal" : `exit status ${status}`;
    throw failedError(`the editor failed: ${editor} (${reason})`, hint);
  }
}

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
