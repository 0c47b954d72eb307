import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listManifests } from "../../../../src/import/run/run-folder.ts";

test("runs started in the same second are listed newest first, whatever their IDs", () => {
  const folder = mkdtempSync(join(tmpdir(), "starpost-runs-"));
  try {
    const begun = [
      ["20261121-101500-ffffff", "2026-11-21T10:15:00.100Z"],
      ["20261121-101500-000000", "2026-11-21T10:15:00.900Z"],
      ["20261121-101500-888888", "2026-11-21T10:15:00.500Z"],
      ["20261121-101459-aaaaaa", "2026-11-21T10:14:59.999Z"],
    ] as const;
    for (const [import_id, started_at] of begun) {
      mkdirSync(join(folder, import_id));
      writeFileSync(join(folder, import_id, "manifest.json"), JSON.stringify({ format: 1, import_id, started_at }));
    }
    expect(listManifests(folder).map(({ import_id }) => import_id)).toEqual([
      "20261121-101500-000000",
      "20261121-101500-888888",
      "20261121-101500-ffffff",
      "20261121-101459-aaaaaa",
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
