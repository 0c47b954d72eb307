import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sendSignalsRepeatedly, loadCommands, openTerminal, runBuilt } from "../support/built-program.ts";
import { type CommandLine, commandLineOf, stockHome } from "../support/command-lines.ts";
import { sample } from "../support/suite-size.ts";

const commands = await loadCommands();
const statuses = [0, 1, 2, 3, 4, 5, 6, 7, 130];

/** Longer than any of these commands takes. */
const boundMs = 30_000;

let stock: Awaited<ReturnType<typeof stockHome>>;
beforeAll(async () => {
  stock = await stockHome();
});
afterAll(() => stock.remove());

/** Matches a prompt. */
const prompt = /^\? /m;

/** Runs a command until it exits, or reports that it hangs. */
async function runToEnd(
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
  { waits, isTerminal }: Pick<CommandLine, "waits"> & { readonly isTerminal: boolean },
): Promise<{ readonly status: number | "hangs"; readonly output: string }> {
  const signalling = waits === undefined ? undefined : sendSignalsRepeatedly();
  const terminal = isTerminal ? openTerminal() : undefined;
  let timer: NodeJS.Timeout | undefined;
  const hangs = new Promise<"hangs">((late) => {
    timer = setTimeout(() => late("hangs"), boundMs);
  });
  try {
    const io = { ...terminal?.io, ...(signalling && { signals: signalling.signals }) };
    const ended = await Promise.race([runBuilt(argv, { env, io }), hangs]);
    const output = terminal?.asked() ?? "";
    return ended === "hangs"
      ? { status: ended, output }
      : { status: ended.status, output: stripVTControlCharacters(`${ended.stderr}${output}`) };
  } finally {
    clearTimeout(timer);
    signalling?.end();
  }
}

describe("in CI and with --no-input, exits without prompting:", () => {
  const withFlag = new Set(sample(commands, { offset: 0, step: 5 }));
  test.each(commands.map((command) => [command.name, command] as const))("%s", async (name, command) => {
    const line = commandLineOf(command);
    if (!line) throw new Error("the command is not listed");
    stock.renew();
    const named = name.split(" ");
    // A confirmation prompt is only shown without --yes.
    const full = [...named, ...line.words(stock).filter((word) => word !== "--yes")];
    const home = { STARPOST_HOME: stock.folder };
    const ci = { ...home, CI: "true" };
    const { waits } = line;
    for (const [argv, env, isTerminal] of [
      [named, ci, false],
      // A command that reads standard input waits for it at a terminal.
      [full, ci, line.stdin === undefined],
      ...(withFlag.has(command) ? ([[[...named, "--no-input"], home, true]] as const) : []),
    ] as const) {
      const { status, output } = await runToEnd(argv, env, { waits, isTerminal });
      expect(statuses, `${argv.join(" ")}: ${status} ${output}`).toContain(status);
      expect(output).not.toMatch(prompt);
      if (status === 2) expect(output).toMatch(/^error: .+/m);
      // Instead of a prompt, the error names the flag to pass.
      if (/cannot prompt/i.test(output)) expect(output).toMatch(/--[a-z]+/);
    }
  });
});

/** Runs the program with a shell redirection of its standard input. */
function runWithStdin(words: readonly string[], redirection: string): Promise<number | null> {
  const script = `exec "$0" "$@" ${redirection}`;
  const child = spawn("sh", ["-c", script, process.execPath, resolve("bin/starpost.js"), ...words], {
    env: { PATH: process.env["PATH"], STARPOST_HOME: stock.folder, CI: "true" },
    stdio: "ignore",
    timeout: boundMs,
    killSignal: "SIGKILL",
  });
  return new Promise((ended) => {
    child.once("exit", (status) => ended(status));
  });
}

/** One command of each type that reads standard input or prompts. */
const someCommands: readonly (readonly string[])[] = [
  ["orders", "import", "-"],
  ["orders", "map", "fixtures/good/orders.csv"],
  ["unsubscribers", "sync", "-", "--type", "1"],
  ["imports", "purge", "--older-than", "0h"],
  ["mail", "configure"],
  "mail configure --host smtp.shop.example --user shop --from a@shop.example --password-stdin".split(" "),
  ["mail", "templates", "edit", "map"],
  ["mail", "templates", "edit", "map", "--file", "-"],
  ["mail", "templates", "reset", "map"],
  ["coupons", "delete", "--action", "map_review"],
  ["webhooks", "delete", "1"],
  ["api", "users.create", "--password-stdin"],
  ["groups", "create", "--input", "-"],
  ["auth", "login", "--base-url", "http://127.0.0.1:1", "--app-key", "k"],
  ["auth", "login", "--base-url", "ftp://127.0.0.1", "--app-key", "k", "--secret-stdin"],
  ["doctor"],
  [],
];

test.each([
  ["<&-", 0],
  ["</dev/null", 1],
])("a process with standard input %s exits", async (redirection, offset) => {
  stock.renew();
  for (const words of sample(someCommands, { offset, step: 2 })) {
    const status = await runWithStdin(words, redirection);
    expect(statuses, `${words.join(" ")} ${redirection}`).toContain(status);
  }
});
