import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { undoImport } from "../../../../src/import/undo/undo.ts";
import { backends } from "../../../support/backends.ts";
import { openPipeline, type Pipeline } from "../../../support/pipeline.ts";

let pipeline: Pipeline;
afterEach(() => pipeline[Symbol.asyncDispose]());

const stored = async () => (await pipeline.service.coupons.list({ details: true })).coupons;
const mixed = "code,coupon_action\nTEA-1,map_review\nTEA-2,map_share\nTEA-3,map_review\n";

describe.each(backends)("over $name", (backend) => {
  beforeEach(async () => {
    pipeline = await openPipeline([backend]);
  });

  test("a list of codes of several actions is restored, verified, and undone", async () => {
    const { import_id, verified } = await pipeline.run("coupons", mixed, { verify: true });
    expect(verified).toMatchObject({ checked: { rows: 3 }, missing_count: 0, different_count: 0 });
    expect((await stored()).toSorted((a, b) => a.code.localeCompare(b.code))).toMatchObject([
      { code: "TEA-1", coupon_action: "map_review" },
      { code: "TEA-2", coupon_action: "map_share" },
      { code: "TEA-3", coupon_action: "map_review" },
    ]);
    const request = { isPlan: false, maxListed: 10, listsExceptions: false, confirm: async () => {} };
    expect(await undoImport(import_id ?? "", request, pipeline.deps())).toMatchObject({ reversed: 3, kept: 0 });
    expect(await stored()).toEqual([]);
  });

  test("--action is the action of rows without one", async () => {
    const { rows } = await pipeline.run("coupons", `${mixed}TEA-4,\nTEA-5,map\n`, { action: "map_review_share" });
    expect(rows).toMatchObject({ accepted: 4, rejected: 1 });
    expect((await stored()).find(({ code }) => code === "TEA-4")).toMatchObject({ coupon_action: "map_review_share" });
    await expect(pipeline.run("coupons", "code\nTEA-6\n")).rejects.toMatchObject({
      kind: "usage",
      message: expect.stringContaining("coupon_action"),
    });
  });

  test.each<[name: string, content: string, options: object, codes: readonly string[]]>([
    ["of one pattern", "ABC123\nDEF456\nGHI789\n", {}, ["ABC123", "DEF456", "GHI789"]],
    ["of different lengths", "WELCOME-01\nTEA5\nSPRING2026\n", {}, ["WELCOME-01", "TEA5", "SPRING2026"]],
    ["without digits", "WELCOME\nSPRING\nTEA-5\n", {}, ["WELCOME", "SPRING", "TEA-5"]],
    ["of which one is mapped", "ABC123\nDEF456\n", { map: { code: "ABC123" } }, ["ABC123", "DEF456"]],
    ["of one code", "ABC123\n", {}, ["ABC123"]],
    ["below an Excel delimiter line", "sep=;\nABC123\nDEF456\n", {}, ["ABC123", "DEF456"]],
  ])("codes %s need no header", async (_name, content, options, codes) => {
    const { rows, items, verified } = await pipeline.run("coupons", content, {
      action: "map_review",
      verify: true,
      ...options,
    });
    expect([rows.read, rows.accepted, items.created]).toEqual([codes.length, codes.length, codes.length]);
    expect(verified).toMatchObject({ missing_count: 0 });
    expect((await stored()).map(({ code }) => code).toSorted()).toEqual(codes.toSorted());
  });

  test("codes with actions need no header, and rejects name the columns", async () => {
    const { rows, rejects_file } = await pipeline.run("coupons", "ABC123,map_review\nDEF456,map_share\nX,map_share\n");
    expect(rows).toMatchObject({ read: 3, accepted: 2, rejected: 1 });
    const [header, reject] = readFileSync(rejects_file ?? "", "utf8").split("\n");
    expect(header).toBe("code,coupon_action,_line,_column,_code,_reason");
    expect(reject).toMatch(/^X,map_share,3,code,too_short,/);
  });

  test.each<[content: string, map: Readonly<Record<string, string>>, codes: readonly string[]]>([
    ["Gutschein\nABC123\n", { code: "Gutschein" }, ["ABC123"]],
    ["CODES2026\nABC123\nDEF456\n", { code: "CODES2026" }, ["ABC123", "DEF456"]],
    ["AKTION\nABC123\nDEF456\n", { code: "AKTION" }, ["ABC123", "DEF456"]],
  ])("a header is not taken for a code: %j", async (content, map, codes) => {
    await pipeline.run("coupons", content, { action: "map_share", map });
    expect((await stored()).map(({ code }) => code).toSorted()).toEqual(codes.toSorted());
  });

  test("a column without a known name is not guessed", async () => {
    const refused = expect.objectContaining({ kind: "usage", message: expect.stringContaining("code") });
    await expect(pipeline.run("coupons", "AKTION\nABC123\n", { action: "map_share" })).rejects.toEqual(refused);
    expect(await stored()).toEqual([]);
  });
});
