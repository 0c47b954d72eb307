import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { execa } from "execa";
import { afterEach, describe, expect, test } from "vitest";

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A repository with the script, passing checks, and an npm that only records its arguments. */
async function openRepository() {
  const root = mkdtempSync(join(tmpdir(), "starpost-release-"));
  folders.push(root);
  const repository = join(root, "repository");
  const npmLog = join(root, "npmLog");
  mkdirSync(join(repository, ".ci"), { recursive: true });
  mkdirSync(join(root, "bin"));
  const program = (path: string, text: string) => {
    writeFileSync(path, `#!/bin/sh\n${text}\n`);
    chmodSync(path, 0o755);
  };
  program(join(root, "bin", "npm"), `echo "$@" >> ${npmLog}`);
  program(join(repository, ".ci", "run"), "true");
  copyFileSync(resolve(".ci/release"), join(repository, ".ci", "release"));
  writeFileSync(join(repository, "package.json"), '{"version":"1.2.3","repository":"example:teapot"}');
  writeFileSync(join(repository, "CHANGELOG.md"), "## Unreleased\n");
  const git = (...args: string[]) =>
    execa("git", ["-c", "user.name=Ann", "-c", "user.email=ann@mail.example", ...args], { cwd: repository });
  await git("init", "--quiet");
  const commit = async () => {
    await git("add", "--all");
    await git("commit", "--quiet", "--message", "A teapot");
  };
  const release = async (flags: readonly string[] = [], env: Record<string, string> = {}) => {
    const ended = await execa(join(repository, ".ci", "release"), flags, {
      env: { PATH: `${join(root, "bin")}:${process.env["PATH"] ?? ""}`, CI: "", ...env },
      reject: false,
      all: true,
    });
    return { status: ended.exitCode, output: ended.all };
  };
  return { repository, npmLog, git, commit, release };
}

describe("a release", () => {
  test("requires a clean tree, a tag, a changelog section, and the scripts of the last version", async () => {
    const { repository, git, commit, release } = await openRepository();
    expect((await release()).output).toMatch(/not clean/);
    await commit();
    expect((await release()).output).toMatch(/tag v1\.2\.3\b/);
    await git("tag", "v1.2.30");
    expect((await release()).output).toMatch(/tag v1\.2\.3\b/);
    await git("tag", "v1.2.3");
    expect(await release()).toMatchObject({ status: 1, output: expect.stringMatching(/CHANGELOG\.md/) });
    writeFileSync(join(repository, "CHANGELOG.md"), "## [1.2.3] - 2026-01-31\n");
    await commit();
    await git("tag", "--force", "v1.2.3");
    expect(await release()).toMatchObject({ status: 1, output: expect.stringMatching(/no folder 1\.2\.30;/) });
    mkdirSync(join(repository, "src/shop/previous/1.2.30"), { recursive: true });
    writeFileSync(join(repository, "src/shop/previous/1.2.30/loader.js"), "");
    await commit();
    await git("tag", "--force", "v1.2.3");
    expect((await release()).status).toBe(0);
  });

  test("publishes only with --publish, in CI, with provenance", async () => {
    const { repository, npmLog, git, commit, release } = await openRepository();
    writeFileSync(join(repository, "CHANGELOG.md"), "## [1.2.3] - 2026-01-31\n");
    await commit();
    await git("tag", "v1.2.3");
    await release();
    expect(readFileSync(npmLog, "utf8")).toBe("publish --access public --dry-run\n");
    expect(await release(["--publish"])).toMatchObject({ status: 1, output: expect.stringMatching(/CI runner/) });
    expect((await release(["--publish"], { CI: "true" })).status).toBe(0);
    expect(readFileSync(npmLog, "utf8").split("\n").at(-2)).toBe("publish --provenance --access public");
    expect((await release(["--force"])).status).toBe(2);
  });
});
