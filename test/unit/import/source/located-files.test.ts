import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { beforeAll, describe, expect, test } from "vitest";
import { FileFormatError, ImportError } from "../../../../src/import/import-error.ts";
import { makeZip } from "../../../support/archives.ts";
import { describeFileError, expandGlobs, locateFiles } from "../../../../src/import/source/located-files.ts";
import { useTemporaryFolder } from "../../../support/temporary-folder.ts";

const folder = useTemporaryFolder();
const copies = join(folder, "copies");
const notices: string[] = [];
const deps = {
  cwd: folder,
  stdin: Readable.from([]),
  abort: new AbortController().signal,
  report: (event: { readonly type: string; readonly message?: string }) => {
    if (event.message !== undefined) notices.push(event.message);
  },
};

beforeAll(() => {
  mkdirSync(copies);
  mkdirSync(join(folder, "2025"));
  for (const name of ["b.csv", "a.csv", "a[1].csv", "2025/c.csv", ".hidden.csv"])
    writeFileSync(join(folder, name), name);
});

const usage = expect.objectContaining({ kind: "usage" });

describe("locating", () => {
  test("keeps the order and the names as given", async () => {
    const located = await locateFiles(["b.csv", "./a.csv"], copies, deps);
    expect(located).toEqual([
      { given: "b.csv", path: join(folder, "b.csv") },
      { given: "./a.csv", path: join(folder, "a.csv") },
    ]);
  });

  test.each([
    ["a missing file", ["none.csv"]],
    ["a file below a file", ["a.csv/x.csv"]],
    ["a folder", ["2025"]],
    ["a file named twice", ["a.csv", "a.csv"]],
    ["a file named in two ways", ["a.csv", "./a.csv"]],
  ])("refuses %s", async (_what, files) => {
    await expect(locateFiles(files, copies, deps)).rejects.toEqual(usage);
  });

  test("copies standard input, and pipes", async () => {
    const fifo = join(folder, "pipe");
    execFileSync("mkfifo", [fifo]);
    const stdin = Readable.from([Buffer.from("one"), Buffer.from("two")]);
    const writing = import("node:fs/promises").then(({ writeFile }) => writeFile(fifo, "piped"));
    const [first, second] = await locateFiles(["-", "pipe"], copies, { ...deps, stdin });
    await writing;
    expect(first).toEqual({ given: "-", path: join(copies, "input-1.csv") });
    expect(readFileSync(first?.path ?? "", "utf8")).toBe("onetwo");
    expect(second).toEqual({ given: "pipe", path: join(copies, "input-2.csv") });
    expect(readFileSync(second?.path ?? "", "utf8")).toBe("piped");
  });

  test("converts each file to a table of its own", async () => {
    writeFileSync(join(folder, "a.json"), '[{"id":1}]');
    writeFileSync(join(folder, "b.json"), '[{"id":2}]');
    const json = (id: number) => ({ name: `${id}.json`, bytes: Buffer.from(`[{"id":${id}}]`) });
    writeFileSync(join(folder, "c.zip"), makeZip([json(3), json(4)]));
    const located = await locateFiles(["a.json", "a.csv", "c.zip", "b.json"], copies, deps);
    expect(located.map(({ given, path }) => [given, path])).toEqual([
      ["a.json", join(copies, "table-1.csv")],
      ["a.csv", join(folder, "a.csv")],
      ["c.zip/3.json", join(copies, "table-3.csv")],
      ["c.zip/4.json", join(copies, "table-4.csv")],
      ["b.json", join(copies, "table-5.csv")],
    ]);
    expect([1, 3, 4, 5].map((at) => readFileSync(join(copies, `table-${at}.csv`), "utf8"))).toEqual(
      [1, 3, 4, 2].map((id) => `id\r${id}\r`),
    );
    expect(located.map(({ entry, archive, converted }) => [entry, archive, converted?.from])).toEqual([
      [undefined, undefined, join(folder, "a.json")],
      [undefined, undefined, undefined],
      [undefined, "c.zip", join(folder, "c.zip")],
      [undefined, "c.zip", join(folder, "c.zip")],
      [undefined, undefined, join(folder, "b.json")],
    ]);
  });

  test("removes the copy of a stream that was converted, and keeps others", async () => {
    const own = mkdtempSync(join(folder, "own-"));
    const locate = async (text: string) => {
      const stdin = Readable.from([Buffer.from(text)]);
      const [file] = await locateFiles(["-"], own, { ...deps, stdin });
      return [file?.path, existsSync(join(own, "input-1.csv"))];
    };
    expect(await locate('[{"id":1}]')).toEqual([join(own, "table-1.csv"), false]);
    expect(await locate("id\n1\n")).toEqual([join(own, "input-1.csv"), true]);
  });

  test("stops copying when aborted", async () => {
    const stdin = Readable.from([Buffer.from("one")]);
    const located = locateFiles(["-"], copies, { ...deps, stdin, abort: AbortSignal.abort() });
    await expect(located).rejects.toMatchObject({ name: "AbortError" });
  });
});

describe("patterns", () => {
  test("match files sorted by name, each once, without hidden ones", async () => {
    notices.length = 0;
    expect(await expandGlobs(["b.csv", "*.csv"], deps)).toEqual(["b.csv", "a.csv", "a[1].csv"]);
    expect(notices).toHaveLength(1);
    expect(await expandGlobs(["**/c.csv"], deps)).toEqual(["2025/c.csv"]);
    expect(await expandGlobs([".*.csv"], deps)).toEqual([".hidden.csv"]);
    expect(await expandGlobs([join(folder, "2025/*.csv")], deps)).toEqual([join(folder, "2025/c.csv")]);
  });

  test("give way to a file of that very name, and to standard input", async () => {
    expect(await expandGlobs(["a[1].csv", "-", "plain.csv"], deps)).toEqual(["a[1].csv", "-", "plain.csv"]);
  });

  test("must match something", async () => {
    await expect(expandGlobs(["*.tsv"], deps)).rejects.toEqual(usage);
  });
});

describe("an error of a file", () => {
  test("becomes a usage error, or stays a bug", () => {
    const own = new ImportError("failed", "mine");
    expect(describeFileError("a.csv", own)).toBe(own);
    expect(describeFileError("a.csv", new FileFormatError("bad", undefined, { line: 3 }))).toMatchObject({
      kind: "usage",
      message: "a.csv:3: bad",
    });
    expect(describeFileError("a.csv", new FileFormatError("bad")).message).toBe("a.csv: bad");
    const denied = Object.assign(new Error("denied"), { code: "EACCES" });
    expect(describeFileError("a.csv", denied)).toMatchObject({ kind: "usage", cause: denied });
    const bug = new TypeError("bug");
    expect(() => describeFileError("a.csv", bug)).toThrow(bug);
  });
});
