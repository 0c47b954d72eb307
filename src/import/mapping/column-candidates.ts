import type { FieldSpec } from "../kind.ts";
import { type ColumnSample, proposeColumns, type SynonymSource } from "./proposal.ts";
import type { HeaderFile } from "./names.ts";

/** A required field without a column, and the column that most likely holds it. */
export interface ColumnCandidate {
  readonly field: string;
  /** Undefined if no column resembles the field. */
  readonly column: string | undefined;
  /** The first value of that column; empty if it has none. */
  readonly sample: string;
}

/** How many rows, and values of a column, are examined. */
const maxRows = 500;
const maxValues = 20;

/**
 * Finds the best column for each missing field. The other fields without a column compete for the columns, so that a
 * column of pictures is not offered for a product's URL.
 * @param unused the columns that hold no field
 */
export function findCandidates(
  kind: SynonymSource,
  { missing, open }: { readonly missing: readonly string[]; readonly open: readonly FieldSpec[] },
  file: Pick<HeaderFile, "header" | "valuesOf">,
  unused: readonly string[],
): ColumnCandidate[] {
  const samples = unused.map((name) => ({ name, values: readValues(file, file.header.indexOf(name)) }));
  const proposals = proposeColumns(kind, open, samples);
  const taken = new Set(proposals.flatMap(({ column }) => column ?? []));
  return proposals
    .filter(({ field }) => missing.includes(field))
    .map(({ field, column, similar }) => {
      const best = column ?? similar.find((name) => !taken.has(name));
      if (best !== undefined) taken.add(best);
      return { field, column: best, sample: sampleOf(samples, best) };
    });
}

function sampleOf(samples: readonly ColumnSample[], column: string | undefined): string {
  return samples.find(({ name }) => name === column)?.values[0] ?? "";
}

function readValues({ valuesOf }: Pick<HeaderFile, "valuesOf">, column: number): string[] {
  const values: string[] = [];
  let rows = 0;
  for (const value of valuesOf(column)) {
    if (value !== "") values.push(value);
    rows++;
    if (rows >= maxRows || values.length >= maxValues) break;
  }
  return values;
}
