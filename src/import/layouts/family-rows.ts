import type { FileFormat } from "../csv/file-format.ts";
import type { ByteSource } from "../csv/byte-source.ts";
import { insertGroups, readRowBatches, type RowBatch } from "../csv/row-batches.ts";
import type { RecordProblem } from "../csv/record-scanner.ts";
import { Spill } from "../csv/spill.ts";
import type { Family } from "./layout.ts";

/** How to determine the family of a row, and where to spill rows. */
export interface FamilyGrouping {
  readonly familyOf: (cells: readonly string[]) => Family | undefined;
  readonly folder: string;
}

/**
 * The rows of a file with those of one family next to each other, at the position of the first. Rows of families are
 * spilled to `folder`, so memory use does not grow with the file.
 */
export function* readFamilyBatches(
  source: ByteSource,
  format: FileFormat,
  { familyOf, folder }: FamilyGrouping,
): Generator<RowBatch> {
  using spill = new Spill(folder);
  for (const { rows, lines, problems } of readRowBatches(source, format, undefined)) {
    for (const [at, cells] of rows.entries()) {
      const problem = problems.get(at);
      const family = isParsed(problem) ? familyOf(cells) : undefined;
      if (!family) continue;
      for (const alias of family.aliases ?? []) spill.addAlias(alias, family.key);
      spill.add({ key: family.key, line: lines[at] ?? 0, cells, problem });
    }
  }
  spill.seal();
  const batches = function* () {
    for (const batch of readRowBatches(source, format, undefined)) {
      const isSpilled = (at: number) =>
        isParsed(batch.problems.get(at)) && familyOf(batch.rows[at] ?? []) !== undefined;
      yield [batch, isSpilled] as const;
    }
  };
  yield* insertGroups(batches(), spill);
}

/** A record with a NUL byte has its cells; other invalid records have only their text. */
function isParsed(problem: RecordProblem | undefined): boolean {
  return problem === undefined || problem === "nul_byte";
}
