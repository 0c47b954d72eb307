import type { MappingDraft } from "./draft.ts";
import { isSameName } from "./names.ts";
import type { Mapping } from "./mapping-file.ts";
import type { FieldProposal } from "./proposal.ts";

/** Where a field comes from; `pattern` builds a product URL from the row's other fields. */
export type Answer = { readonly column: string } | { readonly value: string } | { readonly pattern: string } | "none";

/** The decisions about a draft, made by a person or by default. */
export interface Answers {
  readonly takesLayout: boolean;
  readonly of: ReadonlyMap<string, Answer>;
}

/** The fields that still need a decision. */
export function openFields(draft: MappingDraft, takesLayout: boolean): readonly FieldProposal[] {
  return takesLayout ? draft.besideLayout : draft.byColumns;
}

/** The decisions without asking: a required or guarded field is never guessed. */
export function answerAlone(draft: MappingDraft): Answers {
  const takesLayout = draft.layout !== undefined;
  const answered = openFields(draft, takesLayout).map((proposal) => {
    const { field, column, confidence, isRequired, isGuarded, isCertain } = proposal;
    const isTaken = isRequired || isGuarded ? isCertain : confidence !== "guess";
    return [field, isTaken && column !== undefined ? { column } : "none"] as const;
  });
  return { takesLayout, of: new Map(answered) };
}

/**
 * The fields that a person has to decide: required ones without a source, unless a flag of the import provides them, and
 * guarded ones for which there might be a column.
 */
export function findUndecided(draft: MappingDraft, answers: Answers): readonly FieldProposal[] {
  const missing = new Set(findMissing(draft, answers));
  return openFields(draft, answers.takesLayout).filter(({ field, isRequired, isGuarded, column }) => {
    if (isRequired) return missing.has(field) && (column !== undefined || !draft.flagFields.includes(field));
    return isGuarded && column !== undefined && answers.of.get(field) === "none";
  });
}

/** The required fields without a source. */
export function findMissing(draft: MappingDraft, { takesLayout, of }: Answers): string[] {
  const { options, urlField } = draft;
  return openFields(draft, takesLayout)
    .filter(({ field, isRequired }) => isRequired && (of.get(field) ?? "none") === "none")
    .map(({ field }) => field)
    .filter((field) => field !== urlField || options.productUrl === undefined);
}

/** Columns of the file that no field uses. */
export function findUnused(draft: MappingDraft, { takesLayout, of }: Answers): string[] {
  const used = [...of.values()].flatMap((answer) => (answer !== "none" && "column" in answer ? [answer.column] : []));
  const taken = [...used, ...Object.values(draft.options.map)];
  const names = takesLayout ? draft.ignored : draft.samples.map(({ name }) => name);
  return names.filter((name) => name !== "" && !taken.some((other) => isSameName(other, name)));
}

/** The resulting mapping: flags first, then decisions. Never contains a value of a row. */
export function toMapping(draft: MappingDraft, { takesLayout, of }: Answers): Mapping {
  const { kind, options, delimiter } = draft;
  const columns: Record<string, string> = { ...options.map };
  const set: Record<string, string> = { ...options.set };
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
    layout: takesLayout ? (options.layout ?? draft.layout?.name) : "none",
    columns: unlessEmpty(columns),
    set: unlessEmpty(set),
    product_url: options.productUrl ?? pattern,
    product_id_from: options.productIdFrom && [...options.productIdFrom],
    date_format: options.dateFormat,
    header_row: options.headerRow,
    delimiter: options.delimiter ?? (delimiter === "," ? undefined : delimiter),
    // Detected values are not stored, since the shop's next file may differ.
    encoding: options.encoding,
  };
}

function unlessEmpty(pairs: Record<string, string>): Record<string, string> | undefined {
  return Object.keys(pairs).length > 0 ? pairs : undefined;
}
