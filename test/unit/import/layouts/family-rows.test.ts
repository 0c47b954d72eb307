import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readFileHead } from "../../../../src/import/csv/file-format.ts";
import { readRowBatches, type RowBatch } from "../../../../src/import/csv/row-batches.ts";
import { maxRowsInMemory } from "../../../../src/import/csv/rows-on-disk.ts";
import { surveyFile } from "../../../../src/import/csv/pre-scan.ts";
import { readFamilyBatches } from "../../../../src/import/source/input-files.ts";
import { useTemporaryFolder } from "../../../support/temporary-folder.ts";

const folder = useTemporaryFolder();

/** Two keys with very many rows in turn, and others between them. */
const ids = Array.from({ length: maxRowsInMemory * 5 }, (_, at) => ["a", "b", `single-${at}`][at % 3] ?? "");
const path = join(folder, "input.csv");
writeFileSync(path, `id,at\n${ids.map((id, at) => `${id},${at}\n`).join("")}`);

/** Rows with the same key are grouped at the position of the first one, in file order. */
const expected = (() => {
  const groups = new Map<string, number[]>();
  for (const [at, id] of ids.entries()) {
    const places = groups.get(id) ?? [];
    places.push(at);
    groups.set(id, places);
  }
  return [...groups].flatMap(([id, places]) => places.map((at) => ({ id, at, line: at + 2 })));
})();

function take(batches: Iterable<RowBatch>) {
  const found: { id: string | undefined; at: number; line: number | undefined }[] = [];
  let most = 0;
  for (const { rows, lines } of batches) {
    most = Math.max(most, rows.length);
    for (const [at, [id, place]] of rows.entries()) found.push({ id, at: Number(place), line: lines[at] });
  }
  return { found, most };
}

test("groups with many rows come in chunks, so that memory use is bounded", async () => {
  const { source, format } = readFileHead(path, {});
  const { repeated } = await surveyFile(source, format, 0);
  if (!repeated) throw new Error("nothing was found to be repeated");
  const { found, most } = take(readRowBatches(source, format, { keyColumn: 0, repeated, folder }));
  expect(found).toEqual(expected);
  const ofOneBlock = Math.max(...[...readRowBatches(source, format, undefined)].map(({ rows }) => rows.length));
  expect(most).toBeLessThan(ofOneBlock + maxRowsInMemory);
});

test("so do rows of a product family", () => {
  const { source, format } = readFileHead(path, {});
  const familyOf = ([id = ""]: readonly string[]) => (id.startsWith("single") ? undefined : { key: id });
  const { found } = take(readFamilyBatches(source, format, { familyOf, folder }));
  expect(found).toEqual(expected);
});
