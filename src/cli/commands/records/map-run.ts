import { resolve } from "node:path";
import {
  answerAlone,
  type Answers,
  findMissing,
  findUndecided,
  findUnused,
  openFields,
  toMapping,
  type Answer,
} from "../../../import/mapping/decisions.ts";
import { draftMapping, type DraftOptions, type MappingDraft } from "../../../import/mapping/draft.ts";
import { type Mapping, writeMapping } from "../../../import/mapping/mapping-file.ts";
import { importCommandOf, quoteForShell } from "../../../import/mapping/import-command.ts";
import { checkRejectsPath } from "../../../import/run/reject-copy.ts";
import type { FieldProposal } from "../../../import/mapping/proposal.ts";
import { describeFoundRow } from "../../../import/mapping/header-row.ts";
import { listNames } from "../../../import/mapping/names.ts";
import { loadKinds } from "../../../import/kinds.ts";
import { findKind, recordKinds } from "../../../records/index.ts";
import { usageError, type UserError } from "../../../config/user-error.ts";
import type { Context } from "../../program/context.ts";
import { canPrompt, prompt, promptInterrupted } from "../../program/prompt.ts";
import { alignRows } from "../../../terminal/sections.ts";
import { countOf } from "../../../terminal/plural.ts";
import type { Choice } from "../../../terminal/prompt.ts";
import { urlFlag } from "../../../import/mapping/missing-columns.ts";

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
  if (draft.foundRow !== undefined) messages.warn(`${draft.file}: ${describeFoundRow(draft.foundRow)}`);
  const isAsked = canPrompt(context) && !context.globals.yes;
  const answers = isAsked ? await promptMapping(draft, await createPrompts(context)) : answerAlone(draft);
  const undecided = isAsked ? [] : findUndecided(draft, answers);
  if (undecided.length > 0) throw undecidedError(draft, undecided);
  const mapping = toMapping(draft, answers);
  const proposal = isAsked ? [] : describeProposal(draft, answers, context.globals.verbose);
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
function describeProposal(draft: MappingDraft, answers: Answers, isVerbose: boolean): string[] {
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
    ...(unused.length > 0 ? [`Unused columns: ${isVerbose ? unused.join(", ") : listNames(unused)}.`] : []),
  ];
}

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

/** The prompts that the dialog needs. They return undefined if the user cancels. */
export interface MappingPrompts {
  choice<T>(message: string, choices: readonly Choice<T>[]): Promise<T | undefined>;
  text(message: string): Promise<string | undefined>;
}

/** An answer that needs a second prompt. */
type Follow = "value" | "pattern";

/** The maximum length of the sample values after a column name, in characters. */
const maxSampleLength = 60;

/**
 * Prompts for each field: a column, a fixed value, or none.
 * @throws UserError `interrupted` if the user cancels
 */
export async function promptMapping(draft: MappingDraft, prompts: MappingPrompts): Promise<Answers> {
  const takesLayout = draft.layout !== undefined && (await promptLayout(draft.layout.title, prompts));
  const open = openFields(draft, takesLayout);
  const of = new Map<string, Answer>();
  const taken = new Set<string>();
  for (const proposal of [...open.filter(isRequired), ...open.filter((one) => !isRequired(one))]) {
    if (proposal.field === draft.urlField && draft.options.productUrl !== undefined) continue;
    const answer = await promptField(draft, proposal, taken, prompts);
    if (answer !== "none" && "column" in answer) taken.add(answer.column);
    of.set(proposal.field, answer);
  }
  return { takesLayout, of };
}

const isRequired = (proposal: FieldProposal) => proposal.isRequired;

async function promptLayout(title: string, prompts: MappingPrompts): Promise<boolean> {
  const choices = [
    { value: true, name: `as ${title} (the columns are known)` },
    { value: false, name: "by mapping its columns" },
  ];
  return requireAnswer(await prompts.choice(`The file looks like ${title}. How should it be read?`, choices));
}

async function promptField(
  draft: MappingDraft,
  proposal: FieldProposal,
  taken: ReadonlySet<string>,
  prompts: MappingPrompts,
): Promise<Answer> {
  const question = `${proposal.field}${proposal.isRequired ? " (required)" : ""}`;
  const answer = requireAnswer(await prompts.choice<Answer | Follow>(question, listChoices(draft, proposal, taken)));
  if (answer === "value") {
    const value = requireAnswer(await prompts.text(`Value of ${proposal.field} for every row:`)).trim();
    return value === "" ? "none" : { value };
  }
  return answer === "pattern" ? promptPattern(proposal.field, prompts) : answer;
}

/** Lists the choices. The first, which is the default, is the proposed column, or none. */
function listChoices(
  draft: MappingDraft,
  { field, column, confidence, ranked }: FieldProposal,
  taken: ReadonlySet<string>,
): Choice<Answer | Follow>[] {
  const free = ranked.filter((name) => !taken.has(name));
  const columns = free.map((name) => {
    const note = name === column && confidence !== undefined ? ` (${confidence})` : "";
    return { value: { column: name }, name: `${name}${note}${formatSamples(draft, name)}`, short: name };
  });
  const none: Choice<Answer | Follow> = { value: "none", name: "none" };
  const value: Choice<Answer | Follow> = { value: "value", name: "a fixed value" };
  const pattern: Choice<Answer | Follow> = { value: "pattern", name: "a URL built from other fields" };
  const others = field === draft.urlField ? [pattern, value] : [value];
  const isProposed = column !== undefined && free[0] === column;
  if (isProposed) return [...columns, ...others, none];
  return field === draft.urlField ? [pattern, none, ...columns, value] : [none, ...columns, ...others];
}

function formatSamples({ samples }: MappingDraft, column: string): string {
  const values = samples.find(({ name }) => name === column)?.values ?? [];
  const text = [...new Set(values)]
    .slice(0, 3)
    .join(" · ")
    .replaceAll(/\p{Cc}/gu, " ");
  if (text === "") return "";
  return `   ${text.length > maxSampleLength ? `${text.slice(0, maxSampleLength)}…` : text}`;
}

async function promptPattern(field: string, prompts: MappingPrompts): Promise<Answer> {
  for (;;) {
    const question = `Pattern for ${field}, such as https://shop.example/products/{product_id}:`;
    const pattern = requireAnswer(await prompts.text(question)).trim();
    if (pattern === "") return "none";
    if (/^https?:\/\/[^\s/?#]/i.test(pattern)) return { pattern };
  }
}

function requireAnswer<T>(answer: T | undefined): T {
  if (answer !== undefined) return answer;
  throw promptInterrupted();
}
