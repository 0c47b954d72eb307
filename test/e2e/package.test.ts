import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readReadme, runLine, runTour, type Shell } from "../support/readme.ts";

/** The Node.js version that installs and runs the package; by default the one of the tests. */
const node = process.env["STARPOST_TEST_NODE"] || process.execPath;

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string; readonly mode: number }[];
}

/** The files that the package may contain: the program, documentation, and metadata for npm. */
const allowedFiles = [
  /^package\.json$/,
  /^(README|CHANGELOG|CONTRIBUTING)\.md$/,
  /^LICENSE$/,
  /^bin\/(starpost\.js|package\.json)$/,
  /^dist\/[\w.-]+\.(js|json|pack)$/,
  /^dist\/(demo|shop)\/([\w-]+\/)*[\w.-]+\.(js|json|css|svg|webp|br|gz)$/,
  /^dist\/THIRD-PARTY-NOTICES\.txt$/,
  /^docs\/([\w-]+\/)*[\w-]+\.md$/,
  /^docs\/images\/[\w-]+\.(png|svg|webp)$/,
  /^docs\/reference\/openapi\.json$/,
  /^docs\/operations\/(starpost\.service|Containerfile|capacity\.json|grafana-dashboard\.json)$/,
  /^dist\/man\/starpost[\w-]*\.[17]$/,
];

const manifest = JSON.parse(readFileSync(resolve("package.json"), "utf8")) as Record<string, unknown>;

describe("the package", () => {
  const folder = mkdtempSync(join(tmpdir(), "starpost-package-"));
  const prefix = join(folder, "prefix");
  const cwd = join(folder, "tea");
  const shell: Shell = {
    cwd,
    env: {
      PATH: [join(prefix, "bin"), dirname(node), process.env["PATH"] ?? ""].join(delimiter),
      HOME: cwd,
      STARPOST_HOME: join(cwd, "starpost"),
    },
  };
  let packed: Packed;

  beforeAll(async () => {
    mkdirSync(cwd);
    mkdirSync(prefix);
    const flags = ["--json", "--ignore-scripts", "--pack-destination", folder];
    const { stdout } = await execa("npm", ["pack", ...flags]);
    // An array of packages or an object by name, depending on the npm version.
    packed = Object.values(JSON.parse(stdout) as Record<string, Packed>)[0] as Packed;
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

  test("contains only the required files", () => {
    const paths = packed.files.map(({ path }) => path);
    expect(paths.filter((path) => !allowedFiles.some((pattern) => pattern.test(path)))).toEqual([]);
    expect(paths).toEqual(
      expect.arrayContaining([
        "LICENSE",
        "CHANGELOG.md",
        "README.md",
        "bin/starpost.js",
        "dist/THIRD-PARTY-NOTICES.txt",
        "docs/README.md",
      ]),
    );
    const program = packed.files.find(({ path }) => path === "bin/starpost.js");
    expect((program?.mode ?? 0) & 0o111).toBe(0o111);
  });

  test("has complete metadata", () => {
    expect(manifest).toMatchObject({
      name: "starpost",
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      license: "MIT",
      type: "module",
      bin: { starpost: "bin/starpost.js" },
      engines: { node: ">=20.19" },
      publishConfig: { access: "public", provenance: true },
    });
    expect(readFileSync(resolve("LICENSE"), "utf8")).toMatch(/^MIT License/);
    // npm installs only man pages that are listed individually.
    const pages = readdirSync(resolve("dist/man")).map((name) => `./dist/man/${name}`);
    expect(manifest["man"]).toEqual(pages.toSorted());
  });

  test("installs into an empty folder and runs the README's tour", async () => {
    const installArgs = ["install", "--global", "--prefix", prefix, "--prefer-offline", "--no-audit", "--no-fund"];
    await execa("npm", [...installArgs, join(folder, packed.filename)], {
      env: { PATH: shell.env["PATH"] },
      timeout: 60_000,
    });
    expect(existsSync(join(prefix, "bin", "starpost"))).toBe(true);
    expect(existsSync(join(prefix, "share", "man", "man1", "starpost.1"))).toBe(true);
    const version = await runLine("node --version && starpost --version", shell);
    const { stdout: nodeVersion } = await execa(node, ["--version"]);
    expect(version.output).toBe(`${nodeVersion}\n${String(manifest["version"])}\n`);
    const readme = readReadme();
    expect(await runTour(readme, shell)).toBe(readme);
  });
});
