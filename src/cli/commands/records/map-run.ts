import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { answerAlone, toMapping } from "../../../import/mapping/decisions.ts";
import { type DraftOptions, draftMapping } from "../../../import/mapping/draft.ts";
import { type Mapping, writeMapping } from "../../../import/mapping/mapping-file.ts";
import { checkRejectsPath } from "../../../import/run/reject-copy.ts";
import { loadKinds } from "../../../import/kinds.ts";
import { recordKinds } from "../../../records/index.ts";
import type { Context } from "../../program/context.ts";
import { promptMapping, type MappingPrompts } from "./map-dialog.ts";
import { describeDraft, describeMissing, describeNextCommand, describeProposal } from "./map-format.ts";
import { confirm } from "../../program/confirm.ts";
import { canPrompt, prompt } from "../../program/prompt.ts";

export interface MapRequest {
  readonly kind: string;
  readonly file: string;
  /** The output file; standard output if undefined. */
  readonly out: string | undefined;
  readonly options: DraftOptions;
}

/** A mapping, or the file that it was written to. */
export type Mapped = Mapping | { readonly mapping_file: string };

/**
 * Creates a mapping for a file. Prompts for the fields if possible; otherwise, uses the proposals that are certain enough.
 * @throws ImportError, UserError `usage`
 */
export async function mapFile(context: Context, request: MapRequest): Promise<Mapped> {
  const { kind, file, out, options } = request;
  const { io, messages } = context;
  const path = out === undefined ? undefined : resolve(io.cwd, out);
  checkRejectsPath(out, [file], io.cwd, "--out");
  const draft = await draftMapping(
    { kind, file, options },
    {
      kinds: await loadKinds(recordKinds),
      cwd: io.cwd,
      get stdin() {
        return io.stdin;
      },
      abort: new AbortController().signal,
      report: (event) => {
        if (event.type === "notice") messages.warn(event.message);
      },
    },
  );
  if (path !== undefined && existsSync(path)) await confirm(context, `${out} already exists. Overwrite it?`);
  messages.info(describeDraft(draft));
  const isAsked = canPrompt(context) && !context.globals.yes;
  const answers = isAsked ? await promptMapping(draft, await createPrompts(context)) : answerAlone(draft);
  const mapping = toMapping(draft, answers);
  const proposal = isAsked ? [] : describeProposal(draft, answers);
  for (const line of [...proposal, ...describeMissing(draft, answers)]) messages.warn(line);
  if (path !== undefined) await writeMapping(path, mapping);
  messages.info(describeNextCommand(draft, out));
  return path === undefined ? mapping : { mapping_file: path };
}

async function createPrompts(context: Context): Promise<MappingPrompts> {
  const { promptChoice, promptText } = await import("../../../terminal/prompt.ts");
  return {
    choice: (message, choices) => prompt(context, (terminal) => promptChoice(message, choices, terminal)),
    text: (message) => prompt(context, (terminal) => promptText(message, terminal)),
  };
}
