import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { execa, execaSync } from "execa";
import { describe, expect, it } from "vitest";
import { commands } from "../../src/cli/program/commands.ts";
import { writeManPage } from "../../src/cli/program/help/man-page.ts";

const path = resolve("dist/man/starpost.1");
const { version, man } = JSON.parse(readFileSync("package.json", "utf8")) as {
  readonly version: string;
  readonly man: readonly string[];
};
const page = await writeManPage(version);

function isMissing(program: string): boolean {
  return execaSync("sh", ["-c", `command -v ${program}`], { reject: false }).exitCode !== 0;
}

describe("the man page", () => {
  it("is written by the build and listed in package.json", () => {
    expect(readFileSync(path, "utf8")).toBe(page);
    expect(man.map((file) => resolve(file))).toEqual([path]);
  });

  it("contains every command with its flags", async () => {
    for (const [name, load] of Object.entries(commands)) {
      const section = page.split(`\n.SS starpost ${name.replaceAll("-", "\\-")}\n`)[1]?.split("\n.S")[0];
      const { flags = {} } = await load();
      for (const flag of Object.keys(flags)) {
        expect(section, name).toContain(`\\-\\-${flag.replaceAll("-", "\\-")}`);
      }
    }
  });

  it.skipIf(isMissing("groff"))("is well formed for groff (skipped if groff is not installed)", async () => {
    const { stderr, stdout } = await execa("groff", ["-man", "-ww", "-Kutf8", "-Tutf8", path]);
    expect(stderr).toBe("");
    expect(stdout.length).toBeGreaterThan(200);
  });

  it.skipIf(isMissing("man"))("is shown by man (skipped if man is not installed)", async () => {
    const env = { MANWIDTH: "80", MANPAGER: "cat", LC_ALL: "C.UTF-8" };
    const { stderr, stdout } = await execa("man", ["--warnings", "-E", "UTF-8", "-l", path], { env });
    expect(stderr).toBe("");
    expect(stdout).toContain("starpost");
  });

  it.skipIf(isMissing("mandoc"))("has no mandoc errors (skipped if mandoc is not installed)", async () => {
    const { stdout } = await execa("mandoc", ["-Tlint", "-Wwarning", path], { reject: false });
    expect(stdout.split("\n").filter((line) => line !== "" && !line.includes("missing date"))).toEqual([]);
  });
});
