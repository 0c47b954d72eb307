import { closeSync, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { createPaceState, type PaceState, type Participant, MemoryPace, type PaceStore } from "./pace-state.ts";
import { serviceWaits } from "./service-limit.ts";
import type { Sleep } from "./sleep.ts";
import { createHash } from "node:crypto";
import { join } from "node:path";

/** Locks the state while it is read and written. */
export interface PaceLock {
  /** Never waits. @returns false if another process holds the lock */
  take(): boolean;
  release(): void;
  close(): void;
}

export interface SharedPaceOptions {
  /** The file of the state, created on first use. */
  readonly path: string;
  readonly openLock: () => PaceLock;
  readonly sleep: Sleep;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Returns a number from 0 (inclusive) to 1 (exclusive); adds jitter to attempts to lock. */
  readonly random?: () => number;
  /** Called once if the file or its lock cannot be used. This process is then paced separately. */
  readonly onFailure: (error: unknown) => void;
}

/** Delay between attempts to lock. The lock is held for less than a millisecond. */
const retry = { minMs: 1, jitterMs: 5, timeoutMs: 10_000 } as const;

/** Older state is from an earlier run. Only a hold that has not expired is used. */
const maxAgeMs = 60_000;

/**
 * Stores the state of the pacers of all processes on this machine in a file. The lock is held only while the state is read
 * and written, never while a process waits or sends. So a suspended process does not block the others, and when a
 * process ends, the others get its share of the rate immediately.
 */
export class SharedPace implements PaceStore {
  readonly #options: SharedPaceOptions;
  #seen = createPaceState();
  #lock: PaceLock | undefined;
  #descriptor = -1;
  #pending: ((state: PaceState) => void)[] = [];
  /** Replaces the file if it cannot be used. */
  #fallback: MemoryPace | undefined;
  #isClosed = false;

  constructor(options: SharedPaceOptions) {
    this.#options = options;
  }

  get seen(): PaceState {
    return this.#fallback?.seen ?? this.#seen;
  }

  get isShared(): boolean {
    return this.#fallback === undefined;
  }

  async use<T>(change: (state: PaceState) => T, signal?: AbortSignal): Promise<T> {
    const { clock, random = Math.random, sleep } = this.#options;
    const sinceMs = clock();
    for (;;) {
      if (this.#fallback) return this.#fallback.use(change);
      const done = this.#tryOnce(change);
      if (done) return done.value;
      if (this.#fallback) continue;
      // If the clock is set back, this only waits longer.
      if (clock() - sinceMs > retry.timeoutMs) this.#fallBack(new Error("another process holds its lock"));
      else await sleep(retry.minMs + Math.floor(random() * retry.jitterMs), signal);
    }
  }

  changeSoon(change: (state: PaceState) => void): void {
    if (this.#fallback) return this.#fallback.changeSoon(change);
    this.#pending.push(change);
    if (this.#tryOnce(() => {})) return;
    void this.use(() => {}).catch(() => {});
  }

  close(): void {
    this.#isClosed = true;
    this.#closeFiles();
  }

  /** @returns undefined if another process holds the lock, or if the file cannot be used */
  #tryOnce<T>(change: (state: PaceState) => T): { readonly value: T } | undefined {
    let state: PaceState;
    try {
      if (!this.#open().take()) return undefined;
      state = this.#read();
    } catch (error) {
      this.#fallBack(error);
      return undefined;
    }
    for (const pending of this.#pending.splice(0)) pending(state);
    const value = change(state);
    try {
      this.#write(state);
      this.#lock?.release();
    } catch (error) {
      this.#fallBack(error);
    }
    return { value };
  }

  #open(): PaceLock {
    if (this.#isClosed) throw new Error("the pacing state is closed");
    if (this.#lock) return this.#lock;
    this.#lock = this.#options.openLock();
    // Creates the file if needed, and opens it for reading and writing without truncating it.
    this.#descriptor = openSync(this.#options.path, "a+", 0o600);
    closeSync(this.#descriptor);
    this.#descriptor = openSync(this.#options.path, "r+");
    return this.#lock;
  }

  #read(): PaceState {
    const bytes = Buffer.alloc(fstatSync(this.#descriptor).size);
    readSync(this.#descriptor, bytes, 0, bytes.length, 0);
    this.#seen = parsePaceState(bytes.toString("utf8"), this.#options.clock());
    return this.#seen;
  }

  /** Overwrites the file in one write, so that a killed process leaves either the old or the new state. */
  #write(state: PaceState): void {
    const text = JSON.stringify(state);
    writeSync(this.#descriptor, text.padEnd(fstatSync(this.#descriptor).size), 0);
  }

  #fallBack(error: unknown): void {
    if (this.#fallback) return;
    this.#closeFiles();
    this.#fallback = new MemoryPace();
    Object.assign(this.#fallback.seen, this.#seen, { participants: {} });
    for (const pending of this.#pending.splice(0)) pending(this.#fallback.seen);
    if (!this.#isClosed) this.#options.onFailure(error);
  }

  #closeFiles(): void {
    this.#lock?.close();
    if (this.#descriptor !== -1) closeSync(this.#descriptor);
    this.#lock = undefined;
    this.#descriptor = -1;
  }
}

/** Parses the file. Invalid content counts as no state. JSON writes the infinite times of a new state as null. */
export function parsePaceState(text: string, nowMs: number): PaceState {
  const fresh = createPaceState();
  let stored: { readonly [K in keyof PaceState]?: unknown };
  try {
    stored = (JSON.parse(text) ?? {}) as typeof stored;
  } catch {
    return fresh;
  }
  const timeOf = (name: "dueMs" | "heldUntilMs" | "seenMs") => readNumber(stored[name]) ?? fresh[name];
  const seenMs = timeOf("seenMs");
  const heldUntilMs = Math.min(timeOf("heldUntilMs"), nowMs + serviceWaits.eachMs);
  if (nowMs - seenMs > maxAgeMs) return { ...fresh, heldUntilMs };
  const { startsMs, participants } = stored;
  return {
    startsMs: Array.isArray(startsMs) ? startsMs.filter((startMs) => readNumber(startMs) !== undefined) : [],
    dueMs: timeOf("dueMs"),
    heldUntilMs,
    slowdown: readNumber(stored.slowdown) ?? fresh.slowdown,
    seenMs,
    participants: Object.fromEntries(Object.entries(participants ?? {}).filter(isParticipant)),
  };
}

function readNumber(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

function isParticipant(entry: [string, unknown]): entry is [string, Participant] {
  const [, value] = entry;
  if (typeof value !== "object" || value === null) return false;
  const { ratePerSecond, seenMs } = value as Partial<Participant>;
  return readNumber(ratePerSecond) !== undefined && readNumber(seenMs) !== undefined;
}

/** The account that a rate limit applies to. */
export interface PacedAccount {
  /** The address of the service or the database. */
  readonly target: string;
  readonly appKey: string;
}

/** Returns the path of an account's pacing state and its lock file, without their extensions. */
export function paceFileOf(limitsFolder: string, { target, appKey }: PacedAccount): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([target, appKey]))
    .digest("hex");
  return join(limitsFolder, digest.slice(0, 32));
}
