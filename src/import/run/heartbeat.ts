import type { CallEvent } from "../../service/transport.ts";
import type { Journal } from "./journal.ts";

type WaitReason = Extract<CallEvent, { type: "wait" }>["reason"];

/** The minimum interval between two lines, in milliseconds. */
const leastMs = 1_000;

/** The interval grows with the run, so that a run of several days has a few hundred lines. */
const linesATime = 200;

/** Periodically records in the journal how many calls were sent and how long they waited; reports draw this. */
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

  /** Records that a request is sent. */
  sent(isRepeat = false): void {
    this.#beat();
    this.#seen[0]++;
    if (isRepeat) this.#seen[1]++;
  }

  /** Records that nothing is sent for a while. */
  waited(reason: WaitReason, ms: number): void {
    this.#beat();
    if (reason === "throttled") this.#seen[2]++;
    if (reason === "pace") this.#waits[0] += ms;
    else if (reason === "throttled") this.#waits[1] += ms;
    else this.#waits[2] += ms;
  }

  /** Writes what has not been written yet. */
  flush(): void {
    const at = this.#clock();
    const isEmpty = this.#seen[0] + this.#seen[2] === 0 && this.#waits.every((ms) => ms === 0);
    if (!isEmpty)
      this.#journal.append({ t: "heartbeat", at, ms: at - this.#sinceMs, seen: this.#seen, waits: this.#waits });
    this.#sinceMs = at;
    this.#seen = [0, 0, 0];
    this.#waits = [0, 0, 0];
  }

  #beat(): void {
    const nowMs = this.#clock();
    if (nowMs - this.#sinceMs >= Math.max(leastMs, (nowMs - this.#startedMs) / linesATime)) this.flush();
  }
}
