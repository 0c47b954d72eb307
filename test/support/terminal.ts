import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { execa } from "execa";
import { describe, it, vi } from "vitest";

const hasTmux = spawnSync("tmux", ["-V"]).status === 0;

/** A screen that is waited for comes within this time, also where the machine is busy. */
const deadlineMs = 60_000;

/** Runs a suite at real terminals. Where there is no tmux it is skipped, and says so. */
export function describeAtTerminal(title: string, suite: () => void): void {
  if (hasTmux) describe(title, { timeout: 180_000 }, suite);
  else it.skip(`${title}: tmux is not installed`, suite);
}

export interface TerminalOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** The last line of a shell that waits for a command. */
const prompt = "$";

/**
 * A person's terminal: a shell in tmux, with a server, a size, an environment and a home of its own.
 * The program is on its path as `starpost`.
 */
export class Terminal {
  /** Where the shell stands. Its path is as long on every machine, so that lines fold alike. */
  readonly home = mkdtempSync("/tmp/starpost-");
  readonly #socket = join(this.home, ".tmux");

  constructor({ columns = 100, rows = 30, env = {} }: TerminalOptions = {}) {
    mkdirSync(join(this.home, ".bin"));
    symlinkSync(resolve("bin/starpost.js"), join(this.home, ".bin", "starpost"));
    // The shell, and the only variables that it has.
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

  /** Clears the screen, gives a command, and does not wait for its end. */
  async start(command: string): Promise<void> {
    await this.waitForPrompt();
    await this.press("C-l");
    await this.waitFor((screen) => screen === prompt);
    await this.type(command);
  }

  /** Gives a command on a cleared screen, and answers what the screen holds when the shell waits again. */
  async run(command: string): Promise<string> {
    await this.start(command);
    return this.waitForPrompt();
  }

  /** Writes a line, looks that it is there, and presses enter. */
  async type(text: string): Promise<void> {
    await this.write(text);
    await this.press("Enter");
  }

  /** Writes, without enter. */
  async write(text: string): Promise<void> {
    if (text === "") return;
    await this.#tmux("send-keys", "-l", "--", text);
    const isWritten = (screen: string) => screen.replaceAll("\n", "").includes(text.trimEnd());
    await this.waitFor(isWritten);
  }

  /** Presses keys by their names in tmux: `C-c`, `Enter`, `Tab`, `Down`. */
  async press(...keys: readonly string[]): Promise<void> {
    await this.#tmux("send-keys", ...keys);
  }

  /** What a person sees, without blanks at the ends of lines and empty lines at the end. */
  async screen(): Promise<string> {
    const { stdout } = await this.#tmux("capture-pane", "-p");
    return stdout
      .split("\n")
      .map((line) => line.trimEnd())
      .join("\n")
      .trimEnd();
  }

  /** Waits until the screen is so, and answers it. */
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

  /** Waits until the shell asks for a command, and answers the screen. */
  waitForPrompt(): Promise<string> {
    return this.waitFor((screen) => screen.split("\n").at(-1) === prompt);
  }

  async close(): Promise<void> {
    await execa("tmux", ["-S", this.#socket, "kill-server"], { reject: false });
    // What was running may still be putting its files away.
    rmSync(this.home, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }

  #tmux(...args: readonly string[]) {
    return execa("tmux", ["-S", this.#socket, ...args]);
  }
}
