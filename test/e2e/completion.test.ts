import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { execa, execaSync } from "execa";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "starpost-completion-"));
const home = join(folder, "home");
const work = join(folder, "work");
const env = {
  PATH: `${join(folder, "bin")}:${process.env["PATH"] ?? ""}`,
  HOME: folder,
  STARPOST_HOME: home,
  TERM: "dumb",
  LC_ALL: "C.UTF-8",
};

const runId = "20260131-094500-3f2a1c";

/** What `starpost completion` prints for a shell. */
const scriptOf = (shell: string) => join(folder, `completion.${shell}`);

beforeAll(() => {
  mkdirSync(join(folder, "bin"), { recursive: true });
  mkdirSync(work);
  const program = join(folder, "bin/starpost");
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${resolve("bin/starpost.js")}' "$@"\n`);
  chmodSync(program, 0o755);
  writeFileSync(join(work, "orders.csv"), "");
  const run = join(home, "imports", runId);
  mkdirSync(run, { recursive: true });
  const manifest = { kind: "orders", files: [{ given: "orders: \u001b[31m$(touch x).csv" }], state: "finished" };
  writeFileSync(join(run, "manifest.json"), JSON.stringify(manifest));
  const profiles = { shop: { base_url: "https://api.example.com", app_key: "k", live: true }, "$(touch x)": {} };
  execaSync("starpost", ["groups", "create", 'tea "pots" $HOME'], { env, extendEnv: false });
  writeFileSync(join(home, "profiles.json"), JSON.stringify({ current: "shop", profiles }));
  for (const shell of ["bash", "zsh", "fish"]) {
    const { stdout } = execaSync("starpost", ["completion", shell], { env, extendEnv: false });
    writeFileSync(scriptOf(shell), stdout);
  }
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const isMissing = (shell: string) => execaSync("sh", ["-c", `command -v ${shell}`], { reject: false }).exitCode !== 0;

/** Returns the completions of a shell for the end of a line. */
type Complete = (line: string) => Promise<string[]>;

async function runShell(shell: string, args: readonly string[]): Promise<string[]> {
  const { stdout, stderr } = await execa(shell, args, { env, extendEnv: false, cwd: work, timeout: 60_000 });
  expect(stderr).toBe("");
  return stdout.split("\n").filter((line) => line !== "");
}

/** Passes the words to bash as readline splits them, also at `=`. */
const inBash: Complete = (line) => {
  const words = line.split(/ |(=)/).filter((word) => word !== undefined);
  const script = [
    `source ${scriptOf("bash")}`,
    "compopt() { :; }",
    `COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}`,
    '_starpost; printf "%s\\n" "${COMPREPLY[@]}"',
  ];
  return runShell("bash", ["--norc", "-c", script.join("\n")]);
};

const inFish: Complete = async (line) => {
  const script = `source ${scriptOf("fish")}; complete -C '${line}'`;
  return (await runShell("fish", ["--no-config", "-c", script])).map((found) => found.split("\t")[0] ?? "");
};

/** Zsh shows completions only in its line editor, so this captures what the function passes to `_describe`. */
const inZsh: Complete = async (line) => {
  const words = line.split(" ").map((word) => `'${word}'`);
  const script = [
    'compdef() { :; }; _files() { print -r -- files:; }; _describe() { print -rl -- "${(@P)@[-1]}"; }',
    `source ${scriptOf("zsh")}`,
    `words=(${words.join(" ")}); CURRENT=${words.length}; _starpost; true`,
  ];
  const found = await runShell("zsh", ["-f", "-c", script.join("\n")]);
  return found.map((candidate) => candidate.split(":")[0] ?? "");
};

/** What the program prints to the script of a shell. */
async function completeWord(words: readonly string[], shell: string): Promise<string[]> {
  const { stdout } = await execa("starpost", ["__complete", shell, ...words], { env, extendEnv: false });
  return stdout.split("\n").flatMap((line) => (line.startsWith(":") ? [] : [line.split("\t")[0] ?? ""]));
}

const shells: readonly (readonly [string, Complete])[] = [
  ["bash", inBash],
  ["zsh", inZsh],
  ["fish", inFish],
];

describe.each(shells)("%s (skipped if not installed)", (shell, complete) => {
  const test = it.skipIf(isMissing(shell));

  test("completes nouns and verbs", async () => {
    expect(await complete("starpost imp")).toEqual(["imports"]);
    expect(await complete("starpost api reviews.w")).toEqual(["reviews.widget"]);
    expect(await complete("starpost api reviews.widget --prod")).toEqual(["--product-id"]);
    expect(await complete("starpost imports res")).toEqual(["resume"]);
    expect(await complete("starpost mail templates re")).toEqual(["reset"]);
  });

  test("completes flags, including global flags", async () => {
    expect(await complete("starpost orders import --pl")).toEqual(["--platform"]);
    expect(await complete("starpost orders import --quie")).toEqual(["--quiet"]);
  });

  test("completes values of flags and arguments", async () => {
    expect(await complete("starpost orders import --platform shopi")).toEqual(["shopify"]);
    expect(await complete("starpost mail templates reset remin")).toEqual(["reminder"]);
    expect(await complete("starpost orders list --format nd")).toEqual(["ndjson"]);
  });

  test("completes a value after an equals sign", async () => {
    const [found] = await complete("starpost orders list --format=nd");
    expect(found?.replace("--format=", "")).toBe("ndjson");
  });

  // On a busy machine, a service may take longer than completion waits.
  test("quotes names for the shell, and reads quoted ones", { retry: 3 }, async () => {
    const quoted = shell === "bash" ? String.raw`tea\ \"pots\"\ \$HOME` : 'tea "pots" $HOME';
    expect(await complete("starpost groups get --profile local tea")).toEqual([quoted]);
    const typed = shell === "zsh" ? '"tea ' : String.raw`"tea \"po`;
    expect(await completeWord(["groups", "get", "--profile", "local", typed], shell)).toEqual(['tea "pots" $HOME']);
    if (shell !== "zsh")
      expect(await completeWord(["groups", "get", "--profile", "local", String.raw`tea\ \"`], shell)).toEqual([quoted]);
  });

  test("completes profiles and runs, but no names that a shell would execute", async () => {
    expect(await complete("starpost orders list --profile sh")).toEqual(["shop"]);
    expect(await complete("starpost imports show 2026")).toEqual([runId]);
    expect((await complete("starpost profile show ")).toSorted()).toEqual(["local", "shop"]);
  });

  test("prints nothing if the values are unknown", async () => {
    expect(await complete("starpost mail why 10")).toEqual([]);
    expect(await complete("starpost unknown command ")).toEqual([]);
  });
});

describe("file names", () => {
  it.skipIf(isMissing("zsh"))("are completed by zsh", async () => {
    expect(await inZsh("starpost orders import ord")).toEqual(["files"]);
  });

  it.skipIf(isMissing("fish"))("are completed by fish", async () => {
    expect(await inFish("starpost orders import ord")).toEqual(["orders.csv"]);
    expect(await inFish("starpost orders import --rejects ord")).toEqual(["orders.csv"]);
  });

  it.skipIf(isMissing("bash"))("are completed by readline in bash", async () => {
    const script = [
      'eval "$(starpost completion bash)"',
      'compopt() { printf "%s\\n" "$*"; }',
      "COMP_WORDS=(starpost orders import ord); COMP_CWORD=3; _starpost",
    ];
    expect(await runShell("bash", ["--norc", "-c", script.join("\n")])).toEqual(["-o default"]);
  });
});

describe("the completion request of a shell", () => {
  it("creates nothing and prints no errors", async () => {
    const empty = join(folder, "empty");
    const requests = [["imports", "show", ""], ["orders", "list", "--profile", ""], ["x", "y"], ["mail", ""], []];
    for (const words of requests) {
      const { stderr, exitCode } = await execa("starpost", ["__complete", "bash", ...words], {
        env: { ...env, STARPOST_HOME: empty },
        extendEnv: false,
      });
      expect([exitCode, stderr]).toEqual([0, ""]);
    }
    expect(readdirSync(folder)).not.toContain("empty");
  });

  it("describes a run without terminal control characters", async () => {
    const { stdout } = await execa("starpost", ["__complete", "zsh", "imports", "show", ""], { env, extendEnv: false });
    expect(stdout).toBe(`${runId}\torders, finished: orders:  [31m$(touch x).csv\n:none`);
  });
});
