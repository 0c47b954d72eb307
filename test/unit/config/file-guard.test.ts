import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { withFileGuard } from "../../../src/config/file-guard.ts";
import { FileLock } from "../../../src/storage/file-lock.ts";
import { makeFolder } from "../../cli/support.ts";

/** A file of which no lock can be had: as on a drive that knows none. */
function makeUnlockable(): string {
  const path = join(makeFolder(), "guard.lock");
  writeFileSync(path, "words, and no file to be locked ".repeat(40));
  return path;
}

test("what may go without a guard goes without one that cannot be had", async () => {
  const guarded = withFileGuard(makeUnlockable(), async () => "done", { waitMs: 0, isOptional: true });
  await expect(guarded).resolves.toBe("done");
});

test("what may not says that it cannot be had", async () => {
  const guarded = withFileGuard(makeUnlockable(), async () => "done", { waitMs: 0 });
  await expect(guarded).rejects.toMatchObject({
    kind: "failed",
    hint: expect.stringContaining("STARPOST_HOME") as string,
  });
});

test("of two, the second waits in vain, or does without", async () => {
  const path = join(makeFolder(), "guard.lock");
  const held = new FileLock(path);
  held.take();
  await expect(withFileGuard(path, async () => 1, { waitMs: 40 })).rejects.toThrow("held by another process");
  await expect(withFileGuard(path, async () => 2, { waitMs: 40, isOptional: true })).resolves.toBe(2);
  held.close();
  await expect(withFileGuard(path, async () => 3, { waitMs: 40 })).resolves.toBe(3);
});
