import type { ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import type { Home } from "../starpost.ts";

/** A `serve` process that is started again whenever it ends, as systemd does, on the same port. */
export class RestartedServer {
  readonly #home: Home;
  readonly #flags: readonly string[];
  #child: ChildProcess | undefined;
  #port = 0;
  #isStopped = false;
  #loop: Promise<void> | undefined;
  /** What it printed to standard error. With `--quiet`, only errors. */
  readonly errors: string[] = [];

  constructor(home: Home, flags: readonly string[]) {
    this.#home = home;
    this.#flags = flags;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Starts the server, and waits until it listens. */
  async start(): Promise<void> {
    await new Promise<void>((listening) => {
      this.#loop = this.#run(listening);
    });
  }

  kill(): void {
    this.#child?.kill("SIGKILL");
  }

  /** Stops the process for a while, as a machine that hangs does. */
  async hang(ms: number): Promise<void> {
    const child = this.#child;
    child?.kill("SIGSTOP");
    await sleep(ms);
    child?.kill("SIGCONT");
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#child?.kill("SIGTERM");
    await this.#loop;
  }

  async #run(onListening: () => void): Promise<void> {
    while (!this.#isStopped) {
      const args = ["serve", "--port", String(this.#port), "--json", "--quiet", ...this.#flags];
      const child = this.#home.start(args, { timeout: 0, buffer: false });
      this.#child = child;
      child.stderr?.on("data", (data: Buffer) => this.errors.push(...data.toString().split("\n").filter(Boolean)));
      child.stdout?.once("data", (data: Buffer) => {
        const { url } = JSON.parse(data.toString()) as { url: string };
        this.#port = Number(new URL(url).port);
        onListening();
      });
      await child;
      // While PostgreSQL restarts, the server cannot start.
      await sleep(100);
    }
  }
}
