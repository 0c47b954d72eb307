import type { MappingDraft } from "./draft.ts";
import { isSameName } from "./names.ts";
import type { Mapping } from "./mapping-file.ts";
import type { FieldProposal } from "./proposal.ts";

/** Where a field is taken from; `pattern` makes a product's address of the row's other fields. */
export type Answer =
  | { readonly column: string }
  | { readonly value: string }
  | { readonly pattern: string }
  | "none";

/** What a person, or nobody, said of a draft. */
export interface Answers {
  readonly takesLayout: boolean;
  readonly of: ReadonlyMap<string, Answer>;
}

/** The fields that are still to be asked for. */
export function openFields(draft: MappingDraft, takesLayout: boolean): readonly FieldProposal[] {
  return takesLayout ? draft.besideLayout : draft.byColumns;
}

/**
 * The answers that follow from the draft alone. Assumed: a guess is good enough for a field without which nothing can
 * be imported, since the import will tell; in another field it might overwrite what is right.
 */
export function answerAlone(draft: MappingDraft): Answers {
  const takesLayout = draft.layout !== undefined;
  const answered = openFields(draft, takesLayout).map(({ field, column, sureness, isRequired }) => {
    const isTaken = column !== undefined && (isRequired || sureness !== "a guess");
    return [field, isTaken ? { column } : "none"] as const;
  });
  return { takesLayout, of: new Map(answered) };
}

/** The required fields that nothing gives. */
export function findMissing(draft: MappingDraft, { takesLayout, of }: Answers): string[] {
  const { told, urlField } = draft;
  return openFields(draft, takesLayout)
    .filter(({ field, isRequired }) => isRequired && (of.get(field) ?? "none") === "none")
    .map(({ field }) => field)
    .filter((field) => field !== urlField || told.productUrl === undefined);
}

/** Columns of the file that no field is taken from. */
export function findUnused(draft: MappingDraft, { takesLayout, of }: Answers): string[] {
  if (takesLayout) return [];
  const used = [...of.values()].flatMap((answer) =>
    answer !== "none" && "column" in answer ? [answer.column] : [],
  );
  const taken = [...used, ...Object.values(draft.told.map)];
  const names = draft.samples.map(({ name }) => name);
  return names.filter((name) => name !== "" && !taken.some((other) => isSameName(other, name)));
}

/** What is written down: what was said on the command line, then what was answered. Never a value of a row. */
export function toMapping(draft: MappingDraft, { takesLayout, of }: Answers): Mapping {
  const { kind, told, delimiter } = draft;
  const columns: Record<string, string> = { ...told.map };
  const set: Record<string, string> = { ...told.set };
  let pattern: string | undefined;
  for (const [field, answer] of of) {
    if (answer === "none") continue;
    if ("column" in answer) columns[field] = answer.column;
    else if ("value" in answer) set[field] = answer.value;
    else ({ pattern } = answer);
  }
  return {
    format: 1,
    kind,
    layout: takesLayout ? (told.layout ?? draft.layout?.name) : "none",
    columns: unlessEmpty(columns),
    set: unlessEmpty(set),
    product_url: told.productUrl ?? pattern,
    delimiter: told.delimiter ?? (delimiter === "," ? undefined : delimiter),
    // A guess is made anew for each file: the shop may write the next one otherwise.
    encoding: told.encoding,
  };
}

function unlessEmpty(pairs: Record<string, string>): Record<string, string> | undefined {
  return Object.keys(pairs).length > 0 ? pairs : undefined;
}
