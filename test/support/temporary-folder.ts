import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/** Creates a folder that is removed after all tests of the calling file. */
export function useTemporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "starpost-test-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
