import type { CallEvent } from "../../service/transport.ts";
import type { Journal } from "./journal.ts";

type WaitReason = Extract<CallEvent, { type: "wait" }>["reason"];

/** At most a line of the journal in so long; milliseconds. */
const leastMs = 1_000;

/** The lines of a time stand for longer, the longer it is: a run of days has some hundreds of them. */
const linesATime = 200;

/** Writes down now and then how many calls left since, and what they waited for: what a report of the run draws. */
export class Heartbeat {
  readonly #journal: Pick<Journal, "append">;
  readonly #clock: () => number;
  readonly #startedMs: number;
  #sinceMs: number;
  #seen: [sent: number, retried: number, throttled: number] = [0, 0, 0];
  #waits: [pace: number, throttled: number, retry: number] = [0, 0, 0];

  constructor(journal: Pick<Journal, "append">, clock: () => number) {
    this.#journal = journal;
    this.#clock = clock;
    this.#startedMs = clock();
    this.#sinceMs = this.#startedMs;
  }

  /** A request leaves. */
  sent(isRepeat = false): void {
    this.#beat();
    this.#seen[0]++;
    if (isRepeat) this.#seen[1]++;
  }

  /** Nothing is sent for so long. */
  waited(reason: WaitReason, ms: number): void {
    this.#beat();
    if (reason === "throttled") this.#seen[2]++;
    if (reason === "pace") this.#waits[0] += ms;
    else if (reason === "throttled") this.#waits[1] += ms;
    else this.#waits[2] += ms;
  }

  /** Writes down what is not written yet. */
  flush(): void {
    const at = this.#clock();
    const isEmpty = this.#seen[0] + this.#seen[2] === 0 && this.#waits.every((ms) => ms === 0);
    if (!isEmpty)
      this.#journal.append({ t: "pulse", at, ms: at - this.#sinceMs, seen: this.#seen, waits: this.#waits });
    this.#sinceMs = at;
    this.#seen = [0, 0, 0];
    this.#waits = [0, 0, 0];
  }

  #beat(): void {
    const nowMs = this.#clock();
    if (nowMs - this.#sinceMs >= Math.max(leastMs, (nowMs - this.#startedMs) / linesATime)) this.flush();
  }
}
