import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { keepSignalling, loadCommands, openTerminal, runBuilt } from "../support/built-program.ts";
import { type CommandLine, commandLineOf, stockHome } from "../support/command-lines.ts";

const commands = await loadCommands();
const statuses = [0, 1, 2, 3, 4, 5, 6, 7, 130];

/** Longer than any command takes here, and shorter than a person waits. */
const boundMs = 30_000;

let stock: Awaited<ReturnType<typeof stockHome>>;
beforeAll(async () => {
  stock = await stockHome();
});
afterAll(() => stock.remove());

/** What a question looks like. */
const prompt = /^\? /m;

/** Runs to the end, or says that it does not come to one. */
async function runToEnd(
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
  { waits, isTerminal }: Pick<CommandLine, "waits"> & { readonly isTerminal: boolean },
): Promise<{ readonly status: number | "hangs"; readonly said: string }> {
  const signalling = waits === undefined ? undefined : keepSignalling();
  const terminal = isTerminal ? openTerminal() : undefined;
  let timer: NodeJS.Timeout | undefined;
  const hangs = new Promise<"hangs">((late) => {
    timer = setTimeout(() => late("hangs"), boundMs);
  });
  try {
    const io = { ...terminal?.io, ...(signalling && { signals: signalling.signals }) };
    const ended = await Promise.race([runBuilt(argv, { env, io }), hangs]);
    const said = terminal?.asked() ?? "";
    return ended === "hangs"
      ? { status: ended, said }
      : { status: ended.status, said: stripVTControlCharacters(`${ended.stderr}${said}`) };
  } finally {
    clearTimeout(timer);
    signalling?.end();
  }
}

describe("in CI, and where nothing may be asked, it ends and asks nothing:", () => {
  test.each(commands.map((command) => [command.name, command] as const))("%s", async (name, command) => {
    const line = commandLineOf(command);
    if (!line) throw new Error("the command is not listed");
    stock.renew();
    const named = name.split(" ");
    // What is asked before something is destroyed is asked without this answer.
    const whole = [...named, ...line.words(stock).filter((word) => word !== "--yes")];
    const home = { STARPOST_HOME: stock.folder };
    const ci = { ...home, CI: "true" };
    const { waits } = line;
    for (const [argv, env, isTerminal] of [
      [named, ci, false],
      [[...named, "--help"], ci, false],
      // Who asks for standard input to be read waits for the person at the terminal.
      [whole, ci, line.stdin === undefined],
      [[...named, "--no-input"], home, true],
    ] as const) {
      const { status, said } = await runToEnd(argv, env, { waits, isTerminal });
      expect(statuses, `${argv.join(" ")}: ${status} ${said}`).toContain(status);
      expect(said).not.toMatch(prompt);
      if (status === 2) expect(said).toMatch(/^error: .+/m);
      // Who would have been asked is told what to give in place of an answer.
      if (said.includes("nobody to ask")) expect(said).toMatch(/--[a-z]+/);
    }
  });
});

/** The program itself, with what the shell makes of its standard input. */
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

/** Those that read standard input or ask, one of each sort. */
const sample: readonly (readonly string[])[] = [
  ["orders", "import", "-"],
  ["orders", "map", "fixtures/good/orders.csv"],
  ["unsubscribers", "sync", "-", "--type", "1"],
  ["imports", "purge", "--older-than", "0h"],
  ["mail", "configure"],
  [
    "mail",
    "configure",
    "--host",
    "smtp.shop.example",
    "--user",
    "shop",
    "--from",
    "a@shop.example",
    "--password-stdin",
  ],
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

test.each(["<&-", "</dev/null"])("a process with standard input %s ends", async (redirection) => {
  stock.renew();
  for (const words of sample) {
    const status = await runWithStdin(words, redirection);
    expect(statuses, `${words.join(" ")} ${redirection}`).toContain(status);
  }
});
