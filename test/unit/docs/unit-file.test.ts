import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";

const isThere = spawnSync("systemd-analyze", ["--version"]).status === 0;

describe("docs/operations/starpost.service", () => {
  test.skipIf(!isThere)("is accepted by systemd without warnings", () => {
    const folder = mkdtempSync(join(tmpdir(), "starpost-unit-"));
    const path = join(folder, "starpost.service");
    // The program need not be installed where the file is only checked.
    const text = readFileSync(resolve("docs/operations/starpost.service"), "utf8");
    writeFileSync(path, text.replace("/opt/starpost/bin/starpost", process.execPath));
    const { status, stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", path], {
      encoding: "utf8",
    });
    rmSync(folder, { recursive: true });
    // Other units of the machine may be invalid.
    expect(stderr.split("\n").filter((line) => line.includes("starpost"))).toEqual([]);
    expect(status).toBe(0);
  });
});
