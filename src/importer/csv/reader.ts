import { Worker } from "node:worker_threads";
import type { ReaderAnswer, ReaderFile, ReaderRequest } from "./reader-worker.ts";
import type { RowBatch } from "./row-batches.ts";
import type { Survey } from "./survey.ts";

/** Batches that may be on their way at once: what reading may run ahead. */
const window = 4;

/** Reads CSV in a thread of its own, so that parsing overlaps with checking and storing. */
export class Reader {
  readonly #worker: Worker;
  readonly #answers: ReaderAnswer[] = [];
  #wake: () => void = () => {};

  constructor() {
    this.#worker = new Worker(new URL(`./reader-worker${extension()}`, import.meta.url), {
      resourceLimits: { maxYoungGenerationSizeMb: 16 },
    });
    this.#worker.on("message", (answer: ReaderAnswer) => this.#receive(answer));
    this.#worker.on("error", (error) => this.#receive({ type: "error", error }));
  }

  /** Reads a file through once; needed before its rows are read. */
  async survey(file: ReaderFile): Promise<Survey> {
    this.#send({ type: "survey", file });
    const answer = await this.#next();
    if (answer.type !== "survey") throw new Error(`the reader answered ${answer.type} for a survey`);
    return answer.survey;
  }

  /** The file's rows. No more than a few batches are read ahead of the one that is looked at. */
  async *rows(file: ReaderFile): AsyncGenerator<RowBatch> {
    this.#send({ type: "read", file });
    for (let count = 0; count < window; count++) this.#send({ type: "credit" });
    for (;;) {
      const answer = await this.#next();
      if (answer.type === "end") return;
      if (answer.type !== "batch") throw new Error(`the reader answered ${answer.type} for rows`);
      yield answer.batch;
      this.#send({ type: "credit" });
    }
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #send(request: ReaderRequest): void {
    this.#worker.postMessage(request);
  }

  #receive(answer: ReaderAnswer): void {
    this.#answers.push(answer);
    this.#wake();
  }

  async #next(): Promise<Exclude<ReaderAnswer, { type: "error" }>> {
    while (this.#answers.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const answer = this.#answers.shift();
    if (!answer) throw new Error("the reader gave nothing");
    if (answer.type === "error") throw answer.error;
    return answer;
  }
}

/** Compiled code stands beside compiled code, sources beside sources. */
function extension(): string {
  return import.meta.url.slice(import.meta.url.lastIndexOf("."));
}
