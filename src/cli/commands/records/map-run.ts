import { resolve } from "node:path";
import {
  answerAlone,
  type Answers,
  findMissing,
  findUndecided,
  findUnused,
  openFields,
  toMapping,
} from "../../../import/mapping/decisions.ts";
import { draftMapping, type DraftOptions, type MappingDraft } from "../../../import/mapping/draft.ts";
import { type Mapping, writeMapping } from "../../../import/mapping/mapping-file.ts";
import { importCommandOf, quoteForShell } from "../../../import/mapping/import-command.ts";
import { checkRejectsPath } from "../../../import/run/reject-copy.ts";
import type { FieldProposal } from "../../../import/mapping/proposal.ts";
import { loadKinds } from "../../../import/kinds.ts";
import { findKind, recordKinds } from "../../../records/index.ts";
import { usageError, type UserError } from "../../../config/user-error.ts";
import type { Context } from "../../program/context.ts";
import { type MappingPrompts, promptMapping } from "./map-dialog.ts";
import { canPrompt, prompt } from "../../program/prompt.ts";
import { alignRows } from "../../../terminal/sections.ts";
import { countOf } from "../../../terminal/plural.ts";

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
 * Creates a mapping for a file. Prompts for the fields if possible; otherwise, uses the proposals that are certain, and
 * fails if a required field, or one that could do harm, needs a decision.
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
  messages.info(describeDraft(draft));
  const isAsked = canPrompt(context) && !context.globals.yes;
  const answers = isAsked ? await promptMapping(draft, await createPrompts(context)) : answerAlone(draft);
  const undecided = isAsked ? [] : findUndecided(draft, answers);
  if (undecided.length > 0) throw undecidedError(draft, undecided);
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

/** Describes the detected format of the file in one line. */
function describeDraft({ file, layout, samples, encoding, delimiter, isConverted }: MappingDraft): string {
  const separator = delimiter === "\t" ? "tabs" : `'${delimiter}'`;
  const text = isConverted ? "" : ` separated by ${separator}, ${encoding}`;
  const format = layout ? `, ${layout.title}` : "";
  return `${file}: ${countOf(samples.length, "column")}${text}${format}`;
}

/** Describes the mapping that was proposed without prompting. Contains no values of rows, because logs are stored. */
function describeProposal(draft: MappingDraft, answers: Answers): string[] {
  const open = openFields(draft, answers.takesLayout);
  const mapped = open.flatMap(({ field, column, confidence }) => {
    const isTaken = (answers.of.get(field) ?? "none") !== "none";
    return isTaken ? [[field, `column '${column}' (${confidence})`]] : [];
  });
  const omitted = open.filter(({ field, column }) => column !== undefined && answers.of.get(field) === "none");
  const guesses = omitted.map(({ field, column }) => `${field} (column '${column}')`);
  const unused = findUnused(draft, answers);
  return [
    ...alignRows(mapped),
    ...(guesses.length > 0 ? [`Not mapped, because the match is uncertain: ${guesses.join(", ")}.`] : []),
    ...(unused.length > 0 ? [`Unused columns: ${unused.join(", ")}.`] : []),
  ];
}

const urlFlag = "--product-url 'https://shop.example/products/{product_id}'";

/** The error for fields that only a person can decide, with the columns that could be meant. */
function undecidedError({ file, urlField }: MappingDraft, undecided: readonly FieldProposal[]): UserError {
  const rows = undecided.map(({ field, similar }) => [
    field,
    similar.length === 0 ? "no similar column" : `similar columns: '${similar.join("', '")}'`,
  ]);
  const field = undecided[0]?.field ?? "";
  const needsUrl = undecided.some((one) => one.field === urlField);
  const forUrl = needsUrl ? `To build ${urlField} from other fields, use ${urlFlag}. ` : "";
  return usageError(
    `${file}: cannot decide where these fields come from:\n${alignRows(rows).join("\n")}`,
    `${forUrl}For each of them, name a column (--map ${field}=<column>) or a value (--set ${field}=<value>), or run the command in a terminal without --yes.`,
  );
}

/** Describes the required fields without a value, and how to provide them. */
function describeMissing(draft: MappingDraft, answers: Answers): string[] {
  const missing = findMissing(draft, answers);
  const { urlField } = draft;
  const others = missing.filter((field) => field !== urlField);
  return [
    ...(others.length > 0
      ? [
          `Missing required fields: ${others.join(", ")}. To provide them, use --map ${others[0]}=<column> or --set ${others[0]}=<value>.`,
        ]
      : []),
    ...(urlField !== undefined && missing.includes(urlField)
      ? [`Missing required field: ${urlField}. To build it from other fields, use ${urlFlag}.`]
      : []),
  ];
}

function describeNextCommand({ kind, file, options }: MappingDraft, out: string | undefined): string {
  const path = file === "-" ? "<file>" : quoteForShell(file);
  const sheet = options.sheet === undefined ? "" : ` --sheet ${quoteForShell(options.sheet)}`;
  const command = `${importCommandOf(findKind(kind), path)}${sheet} --mapping ${quoteForShell(out ?? "mapping.json")}`;
  return out === undefined
    ? `To use the mapping, save it as mapping.json and run: ${command}`
    : `Wrote ${out}. To use it, run: ${command}`;
}
