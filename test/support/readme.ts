import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { PassThrough } from "node:stream";
import { execa } from "execa";
import { runBuilt } from "./built-program.ts";
import { splitWords } from "./command-lines.ts";

/** A shell function that runs the program by its name. */
export interface Shell {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Whether lines with a single command of the built program run in this process, which takes a tenth of the time. */
  readonly isInProcess?: boolean;
}

export const readReadme = () => readFileSync(resolve("README.md"), "utf8");

const consoleBlock = /```console\n(.*?)```/gs;

/** Returns the README with the current output of the commands in its tour. */
export async function runTour(readme: string, shell: Shell): Promise<string> {
  let toured = readme;
  const runs = new Map<string, string>();
  // Each command runs in a shell of its own.
  let exports = "";
  for (const [block, body = ""] of readme.matchAll(consoleBlock)) {
    let lived = "";
    for (const command of commandsOf(body)) {
      const { output } = await runLine(exports + restoreRuns(command, runs), shell);
      if (command.startsWith("export ")) exports += `${command}\n`;
      const shown = normalizeOutput(output, shell, runs);
      // Output truncated within a line must still end with a line break.
      lived += `$ ${command.replaceAll("\n", "\n> ")}\n${shown.replace(/(?<=[^\n])$/, "\n")}`;
    }
    toured = toured.replace(block, () => `\`\`\`console\n${lived}\`\`\``);
  }
  return toured;
}

/** Lists the commands of a block, each after a `$`, with continuation lines after a `>`. */
function commandsOf(block: string): string[] {
  const commands: string[] = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("$ ")) commands.push(line.slice(2));
    else if (line.startsWith("> ")) commands.push(`${commands.pop() ?? ""}\n${line.slice(2)}`);
  }
  return commands;
}

/** Lists the commands of the recipes under a heading, without comments. */
export function recipesUnder(readme: string, heading: string): string[] {
  const section = readme.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? "";
  const lines = [...section.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, body = ""]) => body.split("\n"));
  return lines.map((line) => line.replace(/ +# .*$/, "")).filter((line) => line !== "");
}

/** A command of the program, without anything that only a shell understands. */
const singleCommand = /^starpost(?: (?:[\w./:@,=+-]+|'[^']*'))*$/;

/** Runs a line in a shell and returns stdout and stderr together. */
export async function runLine(line: string, { cwd, env, isInProcess = false }: Shell) {
  if (isInProcess && singleCommand.test(line)) {
    let output = "";
    const all = new PassThrough().on("data", (chunk: Buffer) => (output += chunk.toString()));
    const argv = splitWords(line).slice(1);
    const { status } = await runBuilt(argv, { env, cwd, io: { stdout: all, stderr: all } });
    return { exitCode: status, output };
  }
  const { exitCode, all } = await execa("bash", ["-c", line], {
    cwd,
    env,
    all: true,
    extendEnv: false,
    stdin: "ignore",
    reject: false,
    stripFinalNewline: false,
    timeout: 120_000,
  });
  return { exitCode, output: all };
}

/** Replaces the fixed IDs of imports that earlier output contains with the current ones. */
function restoreRuns(command: string, runs: ReadonlyMap<string, string>): string {
  return [...runs].reduce((line, [run, name]) => line.replaceAll(name, run), command);
}

/** Replaces values that differ between runs with fixed ones; an import keeps one ID throughout. */
function normalizeOutput(output: string, { cwd }: Shell, runs: Map<string, string>): string {
  const nameRun = (run: string) => {
    const name = runs.get(run) ?? `20260131-101500-00000${runs.size + 1}`;
    runs.set(run, name);
    return name;
  };
  return output
    .replaceAll(cwd, "/home/ann/tea")
    .replaceAll(/\b\d{8}-\d{6}-[0-9a-f]{6}\b/g, nameRun)
    .replaceAll(/ in (\d+ calls?) \([\d.]+ m?s\)/g, " in $1 (0.4 s)")
    .replaceAll(/"created_at":"[^"]*"/g, '"created_at":"2026-01-31T10:15:00.000Z"');
}
