import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkRejectsPath, placeRows } from "../../../../src/import/run/reject-copy.ts";
import { useTemporaryFolder } from "../../../support/temporary-folder.ts";

const folder = useTemporaryFolder();
mkdirSync(join(folder, "sub"));
writeFileSync(join(folder, "kept.csv"), "rows");

const usage = expect.objectContaining({ kind: "usage" });

describe("a file for rows", () => {
  test("may be new, in an existing folder, or absent", () => {
    checkRejectsPath(undefined, ["in.csv"], folder);
    checkRejectsPath("new.csv", ["in.csv", "-"], folder);
    checkRejectsPath("sub/new.csv", ["in.csv"], folder);
  });

  test.each([
    ["an input file", "sub/../in.csv"],
    ["a folder", "sub"],
    ["in a folder that does not exist", "none/new.csv"],
    ["below a file", "kept.csv/new.csv"],
    ["far below a file", "kept.csv/sub/new.csv"],
  ])("is refused if it is %s", (_what, path) => {
    expect(() => checkRejectsPath(path, ["in.csv"], folder)).toThrow(usage);
  });
});

describe("placing rows", () => {
  const notices: unknown[] = [];
  const context = { cwd: folder, report: (event: unknown) => notices.push(event) };

  test("copies the first file to where it was asked for, readable only by its owner", async () => {
    const kept = join(folder, "kept.csv");
    expect(await placeRows([], "out.csv", context)).toBeNull();
    expect(await placeRows([kept], undefined, context)).toBe(kept);
    expect(await placeRows([kept], "out.csv", context)).toBe(join(folder, "out.csv"));
    expect(readFileSync(join(folder, "out.csv"), "utf8")).toBe("rows");
    expect(statSync(join(folder, "out.csv")).mode & 0o777).toBe(0o600);
  });

  test("reports further files, and where the rows are if they cannot be copied", async () => {
    const kept = join(folder, "kept.csv");
    expect(notices).toEqual([]);
    await placeRows([kept, join(folder, "rejects-2.csv")], undefined, context);
    expect(notices).toMatchObject([{ type: "notice", message: expect.stringContaining("rejects-2.csv") }]);
    const failed = placeRows([kept], "none/out.csv", context);
    await expect(failed).rejects.toMatchObject({
      kind: "failed",
      message: expect.stringMatching(/^--rejects none\/out\.csv: .*ENOENT/),
      hint: expect.stringContaining(kept),
    });
  });

  test.skipIf(!existsSync("/dev/full"))("reports that the disk is full", async () => {
    const failed = placeRows([join(folder, "kept.csv")], "/dev/full", context, "--missing");
    await expect(failed).rejects.toMatchObject({ message: expect.stringMatching(/^--missing \/dev\/full: .*full$/) });
  });
});
