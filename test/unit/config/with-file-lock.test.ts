import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { withFileLock } from "../../../src/config/with-file-lock.ts";
import { FileLock } from "../../../src/storage/file-lock.ts";
import { makeFolder } from "../../cli/support.ts";

/** A file that cannot be locked, as on a drive that does not support locks. */
function makeUnlockable(): string {
  const path = join(makeFolder(), "work.lock");
  writeFileSync(path, "not a file that can be locked ".repeat(40));
  return path;
}

test("runs without the lock if it is optional and cannot be taken", async () => {
  const guarded = withFileLock(makeUnlockable(), async () => "done", { waitMs: 0, isOptional: true });
  await expect(guarded).resolves.toBe("done");
});

test("fails if the lock cannot be taken", async () => {
  const guarded = withFileLock(makeUnlockable(), async () => "done", { waitMs: 0 });
  await expect(guarded).rejects.toMatchObject({
    kind: "failed",
    hint: expect.stringContaining("STARPOST_HOME") as string,
  });
});

test("waits for another process, then fails or runs without the lock", async () => {
  const path = join(makeFolder(), "work.lock");
  const held = new FileLock(path);
  held.take();
  await expect(withFileLock(path, async () => 1, { waitMs: 40 })).rejects.toMatchObject({ kind: "failed" });
  await expect(withFileLock(path, async () => 2, { waitMs: 40, isOptional: true })).resolves.toBe(2);
  held.close();
  await expect(withFileLock(path, async () => 3, { waitMs: 40 })).resolves.toBe(3);
});
