import { Worker } from "node:worker_threads";
import { templateLimits } from "../../contract/index.ts";
import { findThreadFile } from "../../service/thread-file.ts";
import type { EmailTemplate } from "../outgoing-email.ts";
import { TemplateError } from "./template-error.ts";
import type { TemplateAnswer, TemplateTask } from "./template-thread.ts";

/** A thread that has no more work ends after this time, in milliseconds. */
const idleMs = 10_000;

/** How long a thread may take to start, in milliseconds. */
const startMs = 30_000;

/** No thread could be started, which is not the fault of a template. */
export class RendererUnavailableError extends Error {
  override readonly name = "RendererUnavailableError";
}

/** Too many templates of the account wait to be rendered. */
export class TooManyTemplatesError extends Error {
  override readonly name = "TooManyTemplatesError";
}

interface Limits {
  readonly startMs: number;
  readonly renderMs: number;
  readonly memoryMb: number;
  readonly waitingPerAccount: number;
}

interface Pending {
  readonly task: TemplateTask;
  readonly resolve: (email: EmailTemplate) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Renders templates of accounts in a separate thread, one at a time, so that none can block or exhaust the process. The
 * accounts take turns. A template that exceeds the deadline or the memory limit ends the thread; the next one starts
 * another.
 */
export class TemplateRenderer {
  readonly #limits: Limits;
  /** By account. The first one is next. */
  readonly #waiting = new Map<number, Pending[]>();
  #current: Pending | undefined;
  #thread: Worker | undefined;
  #isReady = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: Partial<Limits> = {}) {
    this.#limits = { startMs, ...templateLimits, ...limits };
  }

  /**
   * @throws TemplateError if the template is invalid, or exceeds a limit
   * @throws TooManyTemplatesError, RendererUnavailableError
   */
  render(accountId: number, task: TemplateTask): Promise<EmailTemplate> {
    const waiting = this.#waiting.get(accountId) ?? [];
    if (waiting.length >= this.#limits.waitingPerAccount) return Promise.reject(new TooManyTemplatesError());
    return new Promise((resolve, reject) => {
      this.#waiting.set(accountId, [...waiting, { task, resolve, reject }]);
      this.#next();
    });
  }

  /** Ends the thread. Rejects what is waiting. */
  async close(): Promise<void> {
    const all = [...(this.#current ? [this.#current] : []), ...[...this.#waiting.values()].flat()];
    this.#waiting.clear();
    this.#current = undefined;
    const ended = this.#end();
    for (const { reject } of all) reject(new Error("templates are not rendered anymore"));
    await ended;
  }

  #next(): void {
    if (this.#current) return;
    this.#current = this.#take();
    clearTimeout(this.#timer);
    if (!this.#current) {
      this.#thread?.unref();
      this.#timer = setTimeout(() => void this.#end(), idleMs).unref();
    } else if (this.#isReady) this.#begin(this.#current.task);
    else this.#start();
  }

  /** Takes the first task of the account whose turn it is. */
  #take(): Pending | undefined {
    const [next] = this.#waiting;
    if (!next) return undefined;
    const [accountId, [first, ...others]] = next;
    this.#waiting.delete(accountId);
    if (others.length > 0) this.#waiting.set(accountId, others);
    return first;
  }

  #begin(task: TemplateTask): void {
    this.#thread?.ref();
    this.#thread?.postMessage(task);
    this.#limit(this.#limits.renderMs, "takes too long to render; check its loops");
  }

  #start(): void {
    const thread = new Worker(findThreadFile(import.meta.url, "./template-thread"), {
      resourceLimits: { maxOldGenerationSizeMb: this.#limits.memoryMb, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
      execArgv: [],
    });
    this.#thread = thread;
    const ifCurrent = (work: () => void) => () => {
      if (this.#thread === thread) work();
    };
    thread.on("message", (answer: TemplateAnswer) => ifCurrent(() => this.#receive(answer))());
    thread.on("error", (error: NodeJS.ErrnoException) => {
      const isFull = error.code === "ERR_WORKER_OUT_OF_MEMORY";
      ifCurrent(() => this.#abort(isFull ? "needs too much memory; check its loops" : error.message))();
    });
    thread.on(
      "exit",
      ifCurrent(() => this.#abort("cannot be rendered")),
    );
    this.#limit(this.#limits.startMs, "the thread did not start");
  }

  #limit(ms: number, problem: string): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#abort(problem), ms);
  }

  #receive(answer: TemplateAnswer): void {
    if (answer.type === "ready") {
      this.#isReady = true;
      if (this.#current) this.#begin(this.#current.task);
      return;
    }
    const current = this.#current;
    this.#current = undefined;
    this.#next();
    if (answer.type === "rendered") current?.resolve(answer.email);
    else if (answer.type === "failed") current?.reject(new TemplateError("template", answer.message));
    else {
      const { part, problem, line, column } = answer;
      const place = line !== undefined && column !== undefined ? { line, column } : undefined;
      current?.reject(new TemplateError(part, problem, place));
    }
  }

  /** Ends the thread, and rejects what it was rendering. */
  #abort(problem: string): void {
    const current = this.#current;
    const error = this.#isReady
      ? new TemplateError("template", problem)
      : new RendererUnavailableError(`templates cannot be rendered: ${problem}`);
    this.#current = undefined;
    void this.#end();
    current?.reject(error);
    this.#next();
  }

  async #end(): Promise<void> {
    clearTimeout(this.#timer);
    const thread = this.#thread;
    this.#thread = undefined;
    this.#isReady = false;
    await thread?.terminate();
  }
}
