import { gzipSync } from "node:zlib";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { findPersonRuns } from "../../../../src/import/people/person-rows.ts";
import { openPipeline, type Pipeline } from "../../../support/pipeline.ts";

const header = "email";
const target = "database of the test";

function find({ folder }: Pipeline, email = "zeb@mail.example", account = target) {
  return findPersonRuns(email, { runsFolder: join(folder, "imports"), target: account });
}

it("finds the rows of imported files, whatever the case of the address", async () => {
  await using pipeline = await openPipeline();
  await pipeline.run("unsubscribers", `${header}\nann@mail.example\n`, { emailType: "1" });
  const run = await pipeline.run("unsubscribers", `${header}\nann@mail.example\n"ZEB@mail.example"\n`, {
    emailType: "1",
  });
  expect(await find(pipeline)).toEqual([
    {
      import_id: run.import_id,
      kind: "unsubscribers",
      files: run.files,
      state: "finished",
      started_at: run.started_at,
      rows: [{ file: run.files[0], line: 3, values: { email: "ZEB@mail.example" } }],
      outside: run.files,
    },
  ]);
  expect(await find(pipeline, "zeb@mail.example", "another account")).toEqual([]);
  // Others whose addresses are part of this one, or contain it.
  for (const other of ["eb@mail.example", "zeb@mail.exampl", "zeb@mail.examples"]) {
    expect(await find(pipeline, other)).toEqual([]);
  }
});

it.each([
  ["compressed", (text: string) => gzipSync(text)],
  ["UTF-16", (text: string) => Buffer.from(`\uFEFF${text}`, "utf16le")],
])("reads %s files", async (_, encode) => {
  await using pipeline = await openPipeline();
  const path = pipeline.write("list.csv", encode(`${header}\nann@mail.example\nzeb@mail.example\n`));
  const { startImport } = await import("../../../../src/import/import.ts");
  const options = { dryRun: false, map: {}, emailType: "1" };
  await startImport({ kind: "unsubscribers", files: [path], options }, pipeline.deps());
  expect(await find(pipeline)).toMatchObject([{ rows: [{ line: 3 }], outside: [path] }]);
});

it("finds rejected rows in the folder of a run whose file is gone", async () => {
  await using pipeline = await openPipeline();
  const run = await pipeline.run("unsubscribers", `${header}\nzeb@mail.example;x@y\n`, { emailType: "1" });
  expect(run.rows.rejected).toBe(1);
  rmSync(run.files[0] ?? "");
  // Its copy in the folder has the row.
  expect(await find(pipeline)).toMatchObject([{ import_id: run.import_id, rows: [{ line: 2 }], outside: [] }]);
});

it("ignores a file that has changed since the import", async () => {
  await using pipeline = await openPipeline();
  await pipeline.run("unsubscribers", `${header}\nann@mail.example\n`, { emailType: "1" });
  pipeline.write("unsubscribers.csv", `${header}\nzeb@mail.example\n`);
  expect(await find(pipeline)).toEqual([]);
});

it("finds nothing where no import was run", async () => {
  expect(await findPersonRuns("zeb@mail.example", { runsFolder: "/none", target })).toEqual([]);
});

it.each([-30, -17, -16, -1, 0, 1, 9])(
  "finds an address %d characters from the end of a piece, but not within others",
  async (offset) => {
    await using pipeline = await openPipeline();
    const start = "email,note\nbo@mail.example,";
    const note = ".".repeat(256 * 1024 - start.length - 1 + offset);
    await pipeline.run("unsubscribers", `${start}${note}\nzeb@mail.example,\n`, { emailType: "1" });
    expect(await find(pipeline)).toMatchObject([{ rows: [{ values: { email: "zeb@mail.example" } }] }]);
    for (const other of ["eb@mail.example", "zeb@mail.exam"]) expect(await find(pipeline, other)).toEqual([]);
  },
);
