import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { setCurrentProfile } from "../../../src/config/profile-editor.ts";
import { makeFolder } from "../../cli/support.ts";

test("does not select a profile that does not exist", async () => {
  const folder = makeFolder();
  await expect(setCurrentProfile(folder, "gone")).rejects.toMatchObject({ kind: "usage" });
  expect(existsSync(join(folder, "profiles.json"))).toBe(false);
  await setCurrentProfile(folder, "local");
});
