import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { execa } from "execa";
import { describe, it, vi } from "vitest";

const hasTmux = spawnSync("tmux", ["-V"]).status === 0;

/** The time limit for an expected screen, even on a busy machine. */
const deadlineMs = 60_000;

/** Runs a suite at real terminals. Without tmux, the suite is skipped with a note. */
export function describeAtTerminal(title: string, suite: () => void): void {
  if (hasTmux) describe(title, { timeout: 180_000 }, suite);
  else it.skip(`${title}: tmux is not installed`, suite);
}

export interface TerminalOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** The prompt of the shell. */
const prompt = "$";

/**
 * A terminal: a shell in tmux with its own server, size, environment, and home.
 * The program is on its path as `starpost`.
 */
export class Terminal {
  /** The shell's working folder. Its path has the same length on every machine, so that lines wrap the same way. */
  readonly home = mkdtempSync("/tmp/starpost-");
  readonly #socket = join(this.home, ".tmux");

  constructor({ columns = 100, rows = 30, env = {} }: TerminalOptions = {}) {
    mkdirSync(join(this.home, ".bin"));
    symlinkSync(resolve("bin/starpost.js"), join(this.home, ".bin", "starpost"));
    // The shell and its only environment variables.
    const shellEnv = {
      PATH: [join(this.home, ".bin"), dirname(process.execPath), "/usr/bin", "/bin"].join(":"),
      HOME: this.home,
      STARPOST_HOME: join(this.home, "starpost"),
      TERM: "screen-256color",
      LANG: "C.UTF-8",
      TZ: "UTC",
      PS1: `${prompt} `,
      HISTFILE: "/dev/null",
      ...env,
    };
    const assignments = Object.entries(shellEnv).map(([name, value]) => `${name}=${value}`);
    const shell = ["env", "-i", ...assignments, "bash", "--norc", "--noprofile"];
    const size = ["-x", String(columns), "-y", String(rows)];
    execFileSync(
      "tmux",
      ["-S", this.#socket, "-f", "/dev/null", "new-session", "-d", ...size, "-c", this.home, ...shell],
      { env: { PATH: process.env["PATH"], LANG: "C.UTF-8", TERM: "screen" } },
    );
  }

  /** Clears the screen and starts a command without waiting for its end. */
  async start(command: string): Promise<void> {
    await this.waitForPrompt();
    await this.press("C-l");
    await this.waitFor((screen) => screen === prompt);
    await this.type(command);
  }

  /** Runs a command on a cleared screen and returns the screen at the next shell prompt. */
  async run(command: string): Promise<string> {
    await this.start(command);
    return this.waitForPrompt();
  }

  /** Types a line, waits until it is displayed, and presses Enter. */
  async type(text: string): Promise<void> {
    await this.write(text);
    await this.press("Enter");
  }

  /** Types text without Enter. */
  async write(text: string): Promise<void> {
    if (text === "") return;
    await this.#tmux("send-keys", "-l", "--", text);
    const isWritten = (screen: string) => screen.replaceAll("\n", "").includes(text.trimEnd());
    await this.waitFor(isWritten);
  }

  /** Presses keys by their tmux names: `C-c`, `Enter`, `Tab`, `Down`. */
  async press(...keys: readonly string[]): Promise<void> {
    await this.#tmux("send-keys", ...keys);
  }

  /** Returns the screen without trailing spaces and empty lines. */
  async screen(): Promise<string> {
    const { stdout } = await this.#tmux("capture-pane", "-p");
    return stdout
      .split("\n")
      .map((line) => line.trimEnd())
      .join("\n")
      .trimEnd();
  }

  /** Waits until the screen matches, and returns it. */
  waitFor(expected: RegExp | ((screen: string) => boolean)): Promise<string> {
    const isThere = typeof expected === "function" ? expected : (screen: string) => expected.test(screen);
    return vi.waitFor(
      async () => {
        const screen = await this.screen();
        if (!isThere(screen)) throw new Error(`waited for ${String(expected)}, and the screen is\n${screen}`);
        return screen;
      },
      { timeout: deadlineMs, interval: 40 },
    );
  }

  /** Waits for the shell prompt, and returns the screen. */
  waitForPrompt(): Promise<string> {
    return this.waitFor((screen) => screen.split("\n").at(-1) === prompt);
  }

  /** The title of the terminal, which a control sequence can set. */
  async title(): Promise<string> {
    return (await this.#tmux("display-message", "-p", "#{pane_title}")).stdout;
  }

  async close(): Promise<void> {
    await execa("tmux", ["-S", this.#socket, "kill-server"], { reject: false });
    // A process that is still running may be writing its files.
    rmSync(this.home, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }

  #tmux(...args: readonly string[]) {
    return execa("tmux", ["-S", this.#socket, ...args]);
  }
}
