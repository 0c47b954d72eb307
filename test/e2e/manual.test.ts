import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { execa, execaSync } from "execa";
import { describe, expect, it } from "vitest";
import { commands } from "../../src/cli/program/commands.ts";
import { writeManual } from "../../src/cli/program/help/man-page.ts";
import { topics } from "../../src/cli/program/help/topics/index.ts";

const folder = resolve("dist/man");
const { version, man } = JSON.parse(readFileSync("package.json", "utf8")) as {
  readonly version: string;
  readonly man: readonly string[];
};
const pages = await writeManual(version);

function isMissing(program: string): boolean {
  return execaSync("sh", ["-c", `command -v ${program}`], { reject: false }).exitCode !== 0;
}

describe("the manual", () => {
  it("is what the build has made, a page for the program, each noun and each topic", () => {
    const names = new Set(Object.keys(commands).map((name) => `starpost-${name.split(" ")[0]}.1`));
    const wanted = ["starpost.1", ...names, ...Object.keys(topics).map((name) => `starpost-${name}.7`)];
    expect([...pages.keys()].toSorted()).toEqual(wanted.toSorted());
    expect(readdirSync(folder).toSorted()).toEqual(wanted.toSorted());
    for (const [name, text] of pages) expect(readFileSync(join(folder, name), "utf8"), name).toBe(text);
  });

  it("is in the list that npm installs it by", () => {
    expect(man.toSorted()).toEqual([...pages.keys()].map((name) => `./dist/man/${name}`).toSorted());
  });

  it("names every flag of every command", async () => {
    for (const load of Object.values(commands)) {
      const { name, flags = {} } = await load();
      const page = pages.get(`starpost-${name.split(" ")[0]}.1`) ?? "";
      for (const flag of Object.keys(flags)) {
        expect(page, name).toContain(`.B "\\-\\-${flag.replaceAll("-", "\\-")}`);
      }
    }
  });

  it.skipIf(isMissing("groff"))("is well formed for groff (skipped where it is not installed)", async () => {
    for (const name of pages.keys()) {
      const { stderr, stdout } = await execa("groff", [
        "-man",
        "-ww",
        "-Kutf8",
        "-Tutf8",
        join(folder, name),
      ]);
      expect(stderr, name).toBe("");
      expect(stdout.length, name).toBeGreaterThan(200);
    }
  });

  it.skipIf(isMissing("man"))("is shown by man (skipped where it is not installed)", async () => {
    for (const name of ["starpost.1", "starpost-orders.1", "starpost-output.7"]) {
      const env = { MANWIDTH: "80", MANPAGER: "cat", LC_ALL: "C.UTF-8" };
      const { stderr, stdout } = await execa("man", ["--warnings", "-E", "UTF-8", "-l", join(folder, name)], {
        env,
      });
      expect(stderr, name).toBe("");
      expect(stdout).toContain("starpost");
    }
  });

  it.skipIf(isMissing("mandoc"))("has no error for mandoc (skipped where it is not installed)", async () => {
    const paths = [...pages.keys()].map((name) => join(folder, name));
    const { stdout } = await execa("mandoc", ["-Tlint", "-Wwarning", ...paths], { reject: false });
    const said = stdout.split("\n").filter((line) => line !== "" && !line.includes("missing date"));
    expect(said).toEqual([]);
  });
});
