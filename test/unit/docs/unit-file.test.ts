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
    const { status, stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", path], { encoding: "utf8" });
    rmSync(folder, { recursive: true });
    // Other units of the machine may be invalid.
    expect(stderr.split("\n").filter((line) => line.includes("starpost"))).toEqual([]);
    expect(status).toBe(0);
  });

  // The remaining exposure is the network, which the service needs, and executable memory, which Node needs.
  test.skipIf(!isThere)("has an exposure level of 1.1 or less in `systemd-analyze security`", () => {
    const path = resolve("docs/operations/starpost.service");
    const args = ["security", "--offline=true", "--threshold=11", "--no-pager", path];
    const { status, stdout, stderr } = spawnSync("systemd-analyze", args, { encoding: "utf8" });
    expect([status, stderr], stdout).toEqual([0, ""]);
  });

  test("limits memory and processes", () => {
    const text = readFileSync(resolve("docs/operations/starpost.service"), "utf8");
    for (const name of ["MemoryMax", "MemorySwapMax", "TasksMax"])
      expect(text).toMatch(new RegExp(`^${name}=\\S+$`, "m"));
  });
});
