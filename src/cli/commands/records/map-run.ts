import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { answerAlone, toMapping } from "../../../import/mapping/decisions.ts";
import { type DraftOptions, draftMapping } from "../../../import/mapping/draft.ts";
import { type Mapping, writeMapping } from "../../../import/mapping/mapping-file.ts";
import { checkRejectsPath } from "../../../import/run/reject-copy.ts";
import { loadKinds } from "../../../import/kinds.ts";
import { recordKinds } from "../../../records/index.ts";
import type { Context } from "../../program/context.ts";
import { askMapping, type Asker } from "./map-dialog.ts";
import { describeDraft, describeMissing, describeNextCommand, describeProposal } from "./map-format.ts";
import { confirm } from "../../program/confirm.ts";
import { canPrompt, prompt } from "../../program/prompt.ts";

export interface MapRequest {
  readonly kind: string;
  readonly file: string;
  /** Where the mapping goes; standard output where absent. */
  readonly out: string | undefined;
  readonly told: DraftOptions;
}

/** A mapping, or where it was written. */
export type Mapped = Mapping | { readonly mapping_file: string };

/**
 * Proposes how a file is to be read, asks where somebody can be asked, and writes the answer down.
 * @throws ImportError, UserError `usage`
 */
export async function mapFile(context: Context, request: MapRequest): Promise<Mapped> {
  const { kind, file, out, told } = request;
  const { io, messages } = context;
  const path = out === undefined ? undefined : resolve(io.cwd, out);
  checkRejectsPath(out, [file], io.cwd, "--out");
  const draft = await draftMapping(
    { kind, file, told },
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
  if (path !== undefined && existsSync(path)) await confirm(context, `${out} is there. Overwrite it?`);
  messages.info(describeDraft(draft));
  const isAsked = canPrompt(context) && !context.globals.yes;
  const answers = isAsked ? await askMapping(draft, await openAsker(context)) : answerAlone(draft);
  const mapping = toMapping(draft, answers);
  const said = isAsked ? [] : describeProposal(draft, answers);
  for (const line of [...said, ...describeMissing(draft, answers)]) messages.warn(line);
  if (path !== undefined) await writeMapping(path, mapping);
  messages.info(describeNextCommand(draft, out));
  return path === undefined ? mapping : { mapping_file: path };
}

async function openAsker(context: Context): Promise<Asker> {
  const { promptChoice, promptText } = await import("../../../terminal/prompt.ts");
  return {
    choice: (message, choices) => prompt(context, (terminal) => promptChoice(message, choices, terminal)),
    text: (message) => prompt(context, (terminal) => promptText(message, terminal)),
  };
}
