import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text as readAll } from "node:stream/consumers";
import { toFileError, codeOf, UserError } from "../../../../config/user-error.ts";
import { readVariable } from "../../../../config/environment.ts";
import { ServiceError } from "../../../../contract/errors.ts";
import { emailCategories, type EmailCategory } from "../../../../contract/emails/categories.ts";
import type { Service } from "../../../../service/service.ts";
import type { Context } from "../../../program/context.ts";
import { canPrompt, prompt } from "../../../program/prompt.ts";
import { placeInFile, type ReadTemplate, readTemplateFile, writeTemplateFile } from "./file.ts";

export interface EditRequest {
  readonly category: EmailCategory;
  /** A file in place of the editor; `-` is standard input. */
  readonly file: string | undefined;
  /** Whether to begin with the template that comes with starpost. */
  readonly isBuiltIn: boolean;
}

type SavedTemplate = Awaited<ReturnType<Service["emailTemplates"]["set"]>>["template"];

/** @throws UserError `usage` */
export function readCategory(text: string): EmailCategory {
  const category = emailCategories.find((name) => name === text);
  if (category) return category;
  throw new UserError(
    "usage",
    `${JSON.stringify(text)} is no category of mails`,
    `There are ${emailCategories.join(", ")}.`,
    undefined,
    { given: text, known: emailCategories },
  );
}

/**
 * Replaces the template of a category by what an editor, or a file, says.
 * @returns the template as it is now
 * @throws UserError; ServiceError
 */
export async function editTemplate(
  context: Context,
  service: Service,
  request: EditRequest,
): Promise<SavedTemplate> {
  const { category, file } = request;
  if (file === undefined) return editInEditor(context, service, request);
  const source = file === "-" ? "standard input" : file;
  return save(service, category, readTemplateFile(await readSource(context, file), source), source);
}

export async function readSource({ io }: Context, file: string): Promise<string> {
  if (file === "-") return readAll(io.stdin);
  const path = resolve(io.cwd, file);
  return readFile(path, "utf8").catch((error: unknown) => {
    if (codeOf(error) === "ENOENT")
      throw new UserError(
        "usage",
        `${file}: it is not there`,
        "Name a file that is there; - is standard input.",
        error,
      );
    throw toFileError(error, file);
  });
}

async function save(
  service: Service,
  category: EmailCategory,
  read: ReadTemplate,
  source: string,
): Promise<SavedTemplate> {
  const { subject, text, html } = read;
  try {
    return (await service.emailTemplates.set({ category, subject, text, html })).template;
  } catch (error) {
    throw placed(error, read, source);
  }
}

/** Says a refusal of a template by the place in its file. */
export function placed(error: unknown, read: ReadTemplate, source: string): unknown {
  if (!(error instanceof ServiceError) || error.kind !== "invalidParams") return error;
  return new UserError("usage", placeInFile(error.message, read, source), undefined, error);
}

async function editInEditor(
  context: Context,
  service: Service,
  { category, isBuiltIn }: EditRequest,
): Promise<SavedTemplate> {
  const editor = findEditor(context);
  const { template } = await service.emailTemplates.get({ category, built_in: isBuiltIn });
  const before = writeTemplateFile(template);
  const folder = await mkdtemp(join(tmpdir(), "starpost-template-"));
  const path = join(folder, `${category}.liquid`);
  await writeFile(path, before, { mode: 0o600 });
  for (;;) {
    await openEditor(editor, path);
    const after = await readFile(path, "utf8");
    if (after === before) context.messages.info("Nothing was changed.");
    try {
      const saved =
        after === before ? template : await save(service, category, readTemplateFile(after, path), path);
      await rm(folder, { recursive: true, force: true });
      return saved;
    } catch (error) {
      if (!(await wantsAnotherTry(context, error))) throw kept(error, path, category);
    }
  }
}

async function wantsAnotherTry(context: Context, error: unknown): Promise<boolean> {
  if (!(error instanceof UserError) || error.kind !== "usage" || !canPrompt(context)) return false;
  context.messages.warn(error.message);
  const { promptYesNo } = await import("../../../../terminal/prompt.ts");
  return prompt(context, (terminal) => promptYesNo("It was not saved. Edit it again?", terminal));
}

/** What somebody wrote is not thrown away with the refusal. */
function kept(error: unknown, path: string, category: EmailCategory): unknown {
  if (!(error instanceof Error)) return error;
  const again = `starpost mail templates edit ${category} --file ${path}`;
  const kind = error instanceof UserError ? error.kind : "failed";
  return new UserError(
    kind,
    error.message,
    `Nothing was saved. What you wrote is in ${path}: correct it, then: ${again}`,
    error,
  );
}

function findEditor({ io }: Context): string {
  const editor = readVariable(io.env, "VISUAL") ?? readVariable(io.env, "EDITOR");
  if (editor !== undefined) return editor;
  throw new UserError(
    "usage",
    "neither VISUAL nor EDITOR names an editor",
    "Set one of them, or write a file with --print, edit it, and give it with --file.",
  );
}

/** By way of the shell, since the variable may hold arguments; the screen is the editor's, standard output is not. */
async function openEditor(editor: string, path: string): Promise<void> {
  const child = spawn(`${editor} "${path}"`, { shell: true, stdio: [0, 2, 2] });
  const status = await new Promise<number | null>((ended, failed) => {
    child.once("error", failed);
    child.once("close", ended);
  });
  if (status !== 0)
    throw new UserError(
      "failed",
      `the editor ended with ${status ?? "a signal"}: ${editor}`,
      `Nothing was saved. The text is in ${path}.`,
    );
}
