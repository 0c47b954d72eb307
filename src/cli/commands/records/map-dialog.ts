import { type Answer, type Answers, openFields } from "../../../import/mapping/decisions.ts";
import type { MappingDraft } from "../../../import/mapping/draft.ts";
import type { FieldProposal } from "../../../import/mapping/proposal.ts";
import type { Choice } from "../../../terminal/prompt.ts";
import { promptInterrupted } from "../../program/prompt.ts";

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
