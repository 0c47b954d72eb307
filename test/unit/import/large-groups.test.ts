import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { readFileHead } from "../../../src/import/csv/file-format.ts";
import { readRowBatches, type RowBatch } from "../../../src/import/csv/row-batches.ts";
import { maxSpilledAtOnce } from "../../../src/import/csv/spill.ts";
import { surveyFile } from "../../../src/import/csv/pre-scan.ts";
import { readFamilyBatches } from "../../../src/import/layouts/family-rows.ts";

const folder = mkdtempSync(join(tmpdir(), "starpost-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Two keys of very many rows in turn, and others between them. */
const ids = Array.from({ length: maxSpilledAtOnce * 5 }, (_, at) => ["a", "b", `single-${at}`][at % 3] ?? "");
const path = join(folder, "input.csv");
writeFileSync(path, `id,at\n${ids.map((id, at) => `${id},${at}\n`).join("")}`);

/** The rows of one key come together, where the first of them stands, in the order of the file. */
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

test("rows of one key come in pieces where they are many: memory does not grow with them", async () => {
  const { source, format } = readFileHead(path, {});
  const { repeated } = await surveyFile(source, format, 0);
  if (!repeated) throw new Error("nothing was found to be repeated");
  const { found, most } = take(readRowBatches(source, format, { keyColumn: 0, repeated, folder }));
  expect(found).toEqual(expected);
  const ofOneBlock = Math.max(
    ...[...readRowBatches(source, format, undefined)].map(({ rows }) => rows.length),
  );
  expect(most).toBeLessThan(ofOneBlock + maxSpilledAtOnce);
});

test("so do those of a family", () => {
  const { source, format } = readFileHead(path, {});
  const familyOf = ([id = ""]: readonly string[]) => (id.startsWith("single") ? undefined : { key: id });
  const { found } = take(readFamilyBatches(source, format, { familyOf, folder }));
  expect(found).toEqual(expected);
});
