import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeCurrent } from "../../../src/config/remembered-profile.ts";
import { makeFolder } from "../../cli/support.ts";

test("a profile that another process has removed meanwhile does not become the current one", async () => {
  const folder = makeFolder();
  await expect(makeCurrent(folder, "gone")).rejects.toMatchObject({ kind: "usage" });
  expect(existsSync(join(folder, "profiles.json"))).toBe(false);
  await makeCurrent(folder, "local");
});
