import { type Answer, type Answers, openFields } from "../../../import/mapping/decisions.ts";
import type { MappingDraft } from "../../../import/mapping/draft.ts";
import type { FieldProposal } from "../../../import/mapping/proposal.ts";
import type { Choice } from "../../../terminal/prompt.ts";
import { promptInterrupted } from "../../program/prompt.ts";

/** How a person is asked; nothing is the answer of who broke it off. */
export interface Asker {
  choice<T>(message: string, choices: readonly Choice<T>[]): Promise<T | undefined>;
  text(message: string): Promise<string | undefined>;
}

type Kind = "value" | "pattern";

/** The length of the sample values behind a column's name; characters. */
const shownLength = 60;

/**
 * Goes through the fields with a person: for each a column, a fixed value, or none.
 * @throws UserError `interrupted` where it was broken off
 */
export async function askMapping(draft: MappingDraft, asker: Asker): Promise<Answers> {
  const takesLayout = draft.layout !== undefined && (await askLayout(draft.layout.title, asker));
  const open = openFields(draft, takesLayout);
  const of = new Map<string, Answer>();
  const taken = new Set<string>();
  for (const proposal of [...open.filter(isRequired), ...open.filter((one) => !isRequired(one))]) {
    if (proposal.field === draft.urlField && draft.told.productUrl !== undefined) continue;
    const answer = await askField(draft, proposal, taken, asker);
    if (answer !== "none" && "column" in answer) taken.add(answer.column);
    of.set(proposal.field, answer);
  }
  return { takesLayout, of };
}

const isRequired = (proposal: FieldProposal) => proposal.isRequired;

async function askLayout(title: string, asker: Asker): Promise<boolean> {
  const choices = [
    { value: true, name: `as ${title}: its columns are known` },
    { value: false, name: "by columns that I name" },
  ];
  return orBrokenOff(await asker.choice(`The file looks like ${title}. How is it to be read?`, choices));
}

async function askField(
  draft: MappingDraft,
  proposal: FieldProposal,
  taken: ReadonlySet<string>,
  asker: Asker,
): Promise<Answer> {
  const question = `${proposal.field}${proposal.isRequired ? " (required)" : ""}`;
  const answer = orBrokenOff(await asker.choice<Answer | Kind>(question, choicesOf(draft, proposal, taken)));
  if (answer === "value") {
    const value = orBrokenOff(await asker.text(`${proposal.field}, in every row:`)).trim();
    return value === "" ? "none" : { value };
  }
  return answer === "pattern" ? askPattern(proposal.field, asker) : answer;
}

/** What is proposed comes first, so that return takes it; where nothing is, none comes first. */
function choicesOf(
  draft: MappingDraft,
  { field, column, sureness, ranked }: FieldProposal,
  taken: ReadonlySet<string>,
): Choice<Answer | Kind>[] {
  const free = ranked.filter((name) => !taken.has(name));
  const columns = free.map((name) => {
    const said = name === column && sureness !== undefined ? ` (${sureness})` : "";
    return { value: { column: name }, name: `${name}${said}${sampleOf(draft, name)}`, short: name };
  });
  const none: Choice<Answer | Kind> = { value: "none", name: "none" };
  const value: Choice<Answer | Kind> = { value: "value", name: "a fixed value" };
  const pattern: Choice<Answer | Kind> = { value: "pattern", name: "an address made of other fields" };
  const others = field === draft.urlField ? [pattern, value] : [value];
  const isProposed = column !== undefined && free[0] === column;
  if (isProposed) return [...columns, ...others, none];
  return field === draft.urlField ? [pattern, none, ...columns, value] : [none, ...columns, ...others];
}

function sampleOf({ samples }: MappingDraft, column: string): string {
  const values = samples.find(({ name }) => name === column)?.values ?? [];
  const text = [...new Set(values)]
    .slice(0, 3)
    .join(" · ")
    .replaceAll(/\p{Cc}/gu, " ");
  if (text === "") return "";
  return `   ${text.length > shownLength ? `${text.slice(0, shownLength)}…` : text}`;
}

async function askPattern(field: string, asker: Asker): Promise<Answer> {
  for (;;) {
    const question = `${field}, for example https://shop.example/products/{product_id}:`;
    const pattern = orBrokenOff(await asker.text(question)).trim();
    if (pattern === "") return "none";
    if (/^https?:\/\/[^\s/?#]/i.test(pattern)) return { pattern };
  }
}

function orBrokenOff<T>(answer: T | undefined): T {
  if (answer !== undefined) return answer;
  throw promptInterrupted();
}
