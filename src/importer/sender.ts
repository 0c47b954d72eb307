import { setImmediate } from "node:timers/promises";
import pLimit from "p-limit";
import { ServiceError } from "../contract/index.ts";
import type { Service } from "../service/service.ts";
import type { CallEvent, CallOptions } from "../service/transport.ts";
import type { Books } from "./books.ts";
import { isConflicting, type Chunk } from "./chunks.ts";
import type { Importing, Item, RowProblem } from "./kinds/kind.ts";
import type { Journal, JournalProblem, Settled } from "./ledger/journal.ts";
import type { KeyStore } from "./ledger/key-store.ts";
import { ImportError, type CallCounts, type ImportEvent } from "./types.ts";

/** Calls in a row that the service may refuse as a whole before the run stops. */
const maxRefusedInARow = 3;
/** Times that a call whose answer was lost is looked after within one attempt. */
const maxReadBacks = 3;

/** Where chunks go: to the service with books and ledger kept, or nowhere (a dry run). */
export interface Sender {
  /** Takes a chunk; waits where too much is under way, or where the order of two calls matters. */
  submit(chunk: Chunk): Promise<void>;
  /** Waits for what is under way. */
  drain(): Promise<void>;
  /** Why nothing more is to be sent. */
  readonly failure: unknown;
}

/** Everything is taken, and nothing is sent. */
export function createDrySender(books: Books): Sender {
  return {
    submit: async ({ items }) => books.settle(items, new Map()),
    drain: async () => {},
    failure: undefined,
  };
}

export interface SendingDeps {
  readonly importing: Importing;
  readonly service: Service;
  readonly concurrency: number;
  readonly keepsOrder: boolean;
  readonly isOnce: boolean;
  readonly books: Books;
  readonly journal: Journal;
  readonly settled: Settled;
  readonly keys: KeyStore | undefined;
  readonly clock: () => number;
  readonly abort: AbortSignal;
  readonly report: (event: ImportEvent) => void;
}

/** Sends chunks, some at once, and writes each down before it leaves and after it is answered. */
export class LedgerSender implements Sender {
  readonly #deps: SendingDeps;
  readonly #limit: ReturnType<typeof pLimit>;
  readonly #underWay = new Map<Chunk, Promise<void>>();
  /** Of a resume: the last call that an earlier attempt settled, and the calls before it that are sent now. */
  readonly #lastDone: number;
  readonly #sentAnew: Chunk[] = [];
  #refusedInARow = 0;
  failure: unknown;

  constructor(deps: SendingDeps) {
    this.#deps = deps;
    this.#limit = pLimit(deps.concurrency);
    this.#lastDone = Math.max(-1, ...deps.settled.done.keys());
  }

  async submit(chunk: Chunk): Promise<void> {
    const { settled, books } = this.#deps;
    const extent = settled.extents.get(chunk.n);
    if (extent !== undefined && extent !== chunk.extent) {
      throw new ImportError("failed", "the rows are not cut into the same calls as when the import began", {
        hint: "was it begun by another version of starpost? Resume it with that one",
      });
    }
    const done = settled.done.get(chunk.n);
    // What was sent after a call that is sent anew has to be sent again, where it wrote the same records.
    const isOvertaken = done !== undefined && this.#sentAnew.some((other) => this.#conflicts(other, chunk));
    if (done && !isOvertaken) {
      books.settle(chunk.items, asProblems(done.problems));
      return;
    }
    while (this.#mustWait(chunk)) await Promise.race(this.#underWay.values());
    if (this.failure !== undefined) return;
    if (chunk.n < this.#lastDone) this.#sentAnew.push(chunk);
    const sending = this.#limit(() => this.#send(chunk))
      .catch((error: unknown) => {
        this.failure ??= error;
      })
      .finally(() => this.#underWay.delete(chunk));
    this.#underWay.set(chunk, sending);
    // Answers that are there get their turn, so that what answers is not kept waiting.
    await setImmediate();
  }

  async drain(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.race(this.#underWay.values());
  }

  #mustWait(chunk: Chunk): boolean {
    if (this.#underWay.size >= this.#deps.concurrency) return true;
    if (this.#deps.keepsOrder) return false;
    return [...this.#underWay.keys()].some((other) => this.#conflicts(other, chunk));
  }

  #conflicts(a: Chunk, b: Chunk): boolean {
    return isConflicting(a, b, this.#deps.importing);
  }

  async #send(chunk: Chunk): Promise<void> {
    const { settled, importing } = this.#deps;
    const calls = { sent: 0, retried: 0, throttled: 0 };
    const options = this.#callOptions(calls);
    let toSend: readonly Item[] = chunk.items;
    let isUnknown = settled.unknown.has(chunk.n);
    for (let round = 0; ; round++) {
      if (isUnknown && importing.readBack) toSend = await this.#findMissing(chunk, options);
      try {
        const problems = toSend.length > 0 ? await this.#call(chunk, toSend, calls, options) : new Map();
        this.#settle(chunk, problems, calls);
        return;
      } catch (error) {
        isUnknown = error instanceof ServiceError && error.outcomeUnknown;
        const canReadBack = isUnknown && importing.readBack && round < maxReadBacks;
        if (!canReadBack || this.#deps.abort.aborted) {
          this.#refuse(chunk, error, calls);
          return;
        }
      }
    }
  }

  async #call(
    chunk: Chunk,
    items: readonly Item[],
    calls: CallCounts,
    options: CallOptions,
  ): Promise<Map<number, RowProblem>> {
    const { importing, service, journal, isOnce } = this.#deps;
    // A call that may be repeated needs no waiting for the disk: if the line is lost, it is sent again.
    journal.append({ t: "send", n: chunk.n, items: chunk.items.length, extent: chunk.extent }, isOnce);
    calls.sent++;
    const problems = await importing.send(service, items, options);
    const position = new Map(chunk.items.map((item, at) => [item, at]));
    return new Map(
      problems.map(({ item, ...problem }) => [position.get(items[item] as Item) ?? -1, problem]),
    );
  }

  /** Of a call whose answer was never seen: the items that the service does not hold. */
  async #findMissing(chunk: Chunk, options: CallOptions): Promise<readonly Item[]> {
    const { importing, service, report } = this.#deps;
    const isHeld = (await importing.readBack?.(service, chunk.items, options)) ?? [];
    const missing = chunk.items.filter((_, at) => !isHeld[at]);
    const held = chunk.items.length - missing.length;
    const message = `a call was sent and not answered: ${held} of its ${chunk.items.length} items had arrived`;
    report({ type: "notice", message });
    return missing;
  }

  #settle(chunk: Chunk, problems: Map<number, RowProblem>, calls: CallCounts): void {
    const { books, journal, clock } = this.#deps;
    this.#refusedInARow = 0;
    this.#addCalls(calls);
    books.settle(chunk.items, problems);
    journal.append({
      t: "done",
      n: chunk.n,
      problems: [...problems].map(([at, { field, code, reason }]) => [at, field, code, reason]),
      calls,
      at: clock(),
      totals: books.totals,
    });
  }

  /** A call that was not carried out: for now, for good, or nobody knows. */
  #refuse(chunk: Chunk, error: unknown, calls: CallCounts): void {
    const { books, journal, clock, abort } = this.#deps;
    this.#addCalls(calls);
    const isRefusal = error instanceof ServiceError && isRefusalOfData(error) && !abort.aborted;
    if (!isRefusal) {
      const sure = error instanceof ServiceError && !error.outcomeUnknown && !abort.aborted;
      journal.append({ t: "unanswered", n: chunk.n, sure, calls });
      throw error;
    }
    const reason = `the service refused the call: ${error.message}`;
    books.fail(chunk.items, reason);
    journal.append({ t: "refused", n: chunk.n, reason, calls, at: clock(), totals: books.totals });
    this.#refusedInARow++;
    if (this.#refusedInARow >= maxRefusedInARow) throw error;
  }

  #addCalls(calls: CallCounts): void {
    const { books } = this.#deps;
    books.calls.sent += calls.sent;
    books.calls.retried += calls.retried;
    books.calls.throttled += calls.throttled;
  }

  #callOptions(calls: CallCounts): CallOptions {
    const { abort, report } = this.#deps;
    return { signal: abort, onEvent: (event) => countEvent(event, calls, report) };
  }
}

function countEvent(event: CallEvent, calls: CallCounts, report: (event: ImportEvent) => void): void {
  if (event.type === "attempt" && event.attempt > 1) {
    calls.sent++;
    calls.retried++;
  }
  if (event.type === "wait") {
    if (event.reason === "throttled") calls.throttled++;
    report({ type: "wait", message: event.message, ms: event.ms });
  }
}

function asProblems(problems: readonly JournalProblem[]): Map<number, RowProblem> {
  return new Map(problems.map(([at, field, code, reason]) => [at, { field, code, reason }]));
}

/** Whether it is the rows of this call that are refused, so that others may still be taken. */
function isRefusalOfData({ kind }: ServiceError): boolean {
  return kind === "invalidParams" || kind === "bodyTooLarge" || kind === "malformedBody";
}
