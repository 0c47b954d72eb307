import { closeSync, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { createPaceState, type PaceState, type Participant } from "./pace-state.ts";
import { MemoryPace, type PaceStore } from "./pace-store.ts";
import type { Sleep } from "./sleep.ts";

/** Keeps others out for the moment in which the state is read and written. */
export interface PaceLock {
  /** @returns false where another has it; never waits */
  take(): boolean;
  release(): void;
  close(): void;
}

export interface SharedPaceOptions {
  /** The file of the state; made by the first use. */
  readonly path: string;
  readonly openLock: () => PaceLock;
  readonly sleep: Sleep;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** From 0 up to, and without, 1: the jitter of tries. */
  readonly random?: () => number;
  /** Called once, where the file or its lock cannot be used: this process goes on by itself. */
  readonly onFailure: (error: unknown) => void;
}

/** Who finds the lock taken tries again after so long, in milliseconds; it is held for a fraction of one. */
const retry = { leastMs: 1, mostMs: 5, givenUpAfterMs: 10_000 } as const;

/** What was written before this is of an earlier run: only a hold that still lasts is kept. */
const forgottenAfterMs = 60_000;

/**
 * A pace that processes of one machine keep together, in a file. The lock is held only while the state is read and
 * written, never while a process waits or sends: one that is suspended stops nobody, and the part of one that dies goes
 * to the others at once.
 */
export class SharedPace implements PaceStore {
  readonly #options: SharedPaceOptions;
  #seen = createPaceState();
  #lock: PaceLock | undefined;
  #descriptor = -1;
  #pending: ((state: PaceState) => void)[] = [];
  /** Takes the place of the file where that cannot be used. */
  #alone: MemoryPace | undefined;
  #isClosed = false;

  constructor(options: SharedPaceOptions) {
    this.#options = options;
  }

  get seen(): PaceState {
    return this.#alone?.seen ?? this.#seen;
  }

  get isShared(): boolean {
    return this.#alone === undefined;
  }

  async use<T>(change: (state: PaceState) => T, signal?: AbortSignal): Promise<T> {
    const { clock, random = Math.random, sleep } = this.#options;
    const sinceMs = clock();
    for (;;) {
      if (this.#alone) return this.#alone.use(change);
      const done = this.#tryOnce(change);
      if (done) return done.value;
      if (this.#alone) continue;
      // A clock that is set back only makes this wait longer.
      if (clock() - sinceMs > retry.givenUpAfterMs)
        this.#goAlone(new Error("its lock is held by another process"));
      else await sleep(retry.leastMs + Math.floor(random() * retry.mostMs), signal);
    }
  }

  changeSoon(change: (state: PaceState) => void): void {
    if (this.#alone) return this.#alone.changeSoon(change);
    this.#pending.push(change);
    if (this.#tryOnce(() => {})) return;
    void this.use(() => {}).catch(() => {});
  }

  close(): void {
    this.#isClosed = true;
    this.#closeFiles();
  }

  /** @returns nothing where another process has the lock, or the file cannot be used */
  #tryOnce<T>(change: (state: PaceState) => T): { readonly value: T } | undefined {
    let state: PaceState;
    try {
      if (!this.#open().take()) return undefined;
      state = this.#read();
    } catch (error) {
      this.#goAlone(error);
      return undefined;
    }
    for (const pending of this.#pending.splice(0)) pending(state);
    const value = change(state);
    try {
      this.#write(state);
      this.#lock?.release();
    } catch (error) {
      this.#goAlone(error);
    }
    return { value };
  }

  #open(): PaceLock {
    if (this.#isClosed) throw new Error("the pace is closed");
    if (this.#lock) return this.#lock;
    this.#lock = this.#options.openLock();
    // Opened for reading and writing, and made where it is not there; never cut short.
    this.#descriptor = openSync(this.#options.path, "a+", 0o600);
    closeSync(this.#descriptor);
    this.#descriptor = openSync(this.#options.path, "r+");
    return this.#lock;
  }

  #read(): PaceState {
    const bytes = Buffer.alloc(fstatSync(this.#descriptor).size);
    readSync(this.#descriptor, bytes, 0, bytes.length, 0);
    this.#seen = readPaceState(bytes.toString("utf8"), this.#options.clock());
    return this.#seen;
  }

  /** In one write, over what was there: a process that is killed leaves the old state or the new. */
  #write(state: PaceState): void {
    const text = JSON.stringify(state);
    writeSync(this.#descriptor, text.padEnd(fstatSync(this.#descriptor).size), 0);
  }

  #goAlone(error: unknown): void {
    if (this.#alone) return;
    this.#closeFiles();
    this.#alone = new MemoryPace();
    Object.assign(this.#alone.seen, this.#seen, { participants: {} });
    for (const pending of this.#pending.splice(0)) pending(this.#alone.seen);
    if (!this.#isClosed) this.#options.onFailure(error);
  }

  #closeFiles(): void {
    this.#lock?.close();
    if (this.#descriptor !== -1) closeSync(this.#descriptor);
    this.#lock = undefined;
    this.#descriptor = -1;
  }
}

/** Reads what the file says. JSON has no number for "never", and writes null. What cannot be read, or says what no state says, is no state. */
export function readPaceState(text: string, nowMs: number): PaceState {
  const fresh = createPaceState();
  let kept: { readonly [K in keyof PaceState]?: unknown };
  try {
    kept = (JSON.parse(text) ?? {}) as typeof kept;
  } catch {
    return fresh;
  }
  const timeOf = (name: "dueMs" | "heldUntilMs" | "seenMs") => readNumber(kept[name]) ?? fresh[name];
  const [heldUntilMs, seenMs] = [timeOf("heldUntilMs"), timeOf("seenMs")];
  if (nowMs - seenMs > forgottenAfterMs) return { ...fresh, heldUntilMs };
  const { startsMs, participants } = kept;
  return {
    startsMs: Array.isArray(startsMs) ? startsMs.filter((startMs) => readNumber(startMs) !== undefined) : [],
    dueMs: timeOf("dueMs"),
    heldUntilMs,
    slowdown: readNumber(kept.slowdown) ?? fresh.slowdown,
    seenMs,
    participants: Object.fromEntries(Object.entries(participants ?? {}).filter(isParticipant)),
  };
}

function readNumber(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

function isParticipant(entry: [string, unknown]): entry is [string, Participant] {
  const [, told] = entry;
  if (typeof told !== "object" || told === null) return false;
  const { ratePerSecond, seenMs } = told as Partial<Participant>;
  return readNumber(ratePerSecond) !== undefined && readNumber(seenMs) !== undefined;
}
