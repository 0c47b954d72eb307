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
    expect((await stored()).toSorted((a, b) => a.code.localeCompare(b.code))).toEqual([
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
});
