import type { FileFormat } from "../csv/file-format.ts";
import type { ByteSource } from "../csv/byte-source.ts";
import { readRowBatches, type RowBatch } from "../csv/row-batches.ts";
import type { RecordProblem } from "../csv/record-scanner.ts";
import { maxSpilledAtOnce, Spill } from "../csv/spill.ts";
import type { Family } from "./layout.ts";

/** How to determine the family of a row, and where to spill rows. */
export interface FamilyGrouping {
  readonly familyOf: (cells: readonly string[]) => Family | undefined;
  readonly folder: string;
}

/** Rows with the family of each, by position; a row without a family stands alone. */
export interface FamilyBatch extends RowBatch {
  readonly families: ReadonlyMap<number, string>;
}

/**
 * The rows of a file with those of one family next to each other, at the position of the first. Rows of families are
 * spilled to `folder`, so memory use does not grow with the file.
 */
export function* readFamilyBatches(
  source: ByteSource,
  format: FileFormat,
  { familyOf, folder }: FamilyGrouping,
): Generator<FamilyBatch> {
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
  const groups = spill.groups();
  let group = groups.next();
  for (const { rows, lines, problems } of readRowBatches(source, format, undefined)) {
    let batch = emptyBatch();
    for (const [at, cells] of rows.entries()) {
      const line = lines[at] ?? 0;
      const problem = problems.get(at);
      if (!isParsed(problem) || !familyOf(cells)) {
        if (problem) batch.problems.set(batch.rows.length, problem);
        batch.rows.push(cells);
        batch.lines.push(line);
        continue;
      }
      for (; !group.done && group.value.firstLine === line; group = groups.next()) {
        for (const kept of group.value.rows) {
          batch.families.set(batch.rows.length, kept.key);
          if (kept.problem) batch.problems.set(batch.rows.length, kept.problem);
          batch.rows.push(kept.cells);
          batch.lines.push(kept.line);
        }
        if (group.value.rows.length < maxSpilledAtOnce) continue;
        yield batch;
        batch = emptyBatch();
      }
    }
    yield batch;
  }
}

function emptyBatch() {
  return {
    rows: [] as string[][],
    lines: [] as number[],
    problems: new Map<number, RecordProblem>(),
    families: new Map<number, string>(),
  };
}

/** A record with a NUL byte has its cells; other invalid records have only their text. */
function isParsed(problem: RecordProblem | undefined): boolean {
  return problem === undefined || problem === "nul_byte";
}
