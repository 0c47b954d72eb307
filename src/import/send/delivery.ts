import { ServiceError, idempotencyKeys } from "../../contract/index.ts";
import type { Service } from "../../service/service.ts";
import type { CallOptions } from "../../service/transport.ts";
import { sendInParts } from "./bisection.ts";
import type { CallHistory } from "./call-history.ts";
import type { Chunk } from "./chunks.ts";
import type { ImportBehavior } from "../kind.ts";
import type { Item, RowError } from "../item.ts";
import type { RecordedOutcome, SendResult } from "../outcome.ts";
import { readCallRefusal } from "../check/service-errors.ts";
import type { Journal, Settled } from "../run/journal.ts";
import type { Heartbeat } from "../run/heartbeat.ts";
import type { CallCounts } from "../summary.ts";
import type { ImportEvent } from "../events.ts";
import { hash } from "node:crypto";
import { hourMs } from "../../contract/time.ts";

/** How often a call that cannot be repeated is sent, each time after checking what has arrived. */
const maxRounds = 4;
/** Attempts of the call that probes the service. */
const probeAttempts = 2;

/** A chunk in flight, and its outcome so far. */
export interface Delivery {
  readonly chunk: Chunk;
  readonly calls: CallCounts;
  /** Called when the chunk is sent in parts, which takes longer than one call. */
  readonly onSplit: () => void;
  /** Whether its calls have idempotency keys. */
  readonly isKeyed: boolean;
  /** Whether the journal shows that it was sent in parts. */
  isParted: boolean;
  /** Whether the service may hold some of it. */
  isTouched: boolean;
  /** The idempotency keys of requests without a response, which may have been carried out; undefined for those without. */
  readonly lostKeys: Set<string | undefined>;
  /** What the service did with the accepted items, where it is known. */
  readonly outcomes: Map<Item, RecordedOutcome>;
  /** Values of accepted items that the service did not store. */
  readonly dropped: { readonly item: Item; readonly problem: RowError }[];
  /** Why checking what had arrived failed. */
  unsettled?: unknown;
  /** The last refusal of an item that was alone. */
  refusal?: ServiceError;
}

export interface DeliveryDeps {
  readonly behavior: ImportBehavior;
  readonly service: Service;
  readonly isOnce: boolean;
  /** Makes idempotency keys unique; without it, calls have none. */
  readonly runId?: string | undefined;
  readonly clock: () => number;
  /** Called when the service honored an idempotency key. */
  readonly onKeyHonored: () => void;
  readonly journal: Journal;
  readonly settled: Settled;
  readonly history: CallHistory;
  readonly heartbeat: Heartbeat;
  readonly abort: AbortSignal;
  readonly report: (event: ImportEvent) => void;
}

/**
 * Sends a chunk in one call or in parts, after recording it in the journal. A call with an unknown outcome, from this
 * attempt or an earlier one, is settled first: by reading back if it cannot be repeated, otherwise by repeating it.
 * @returns the errors of items that were not accepted
 * @throws ServiceError, ImportError if the run cannot continue
 */
export async function deliver(delivery: Delivery, deps: DeliveryDeps): Promise<Map<Item, RowError>> {
  const { behavior, journal, settled, isOnce, abort, clock } = deps;
  const { chunk } = delivery;
  const key = keyOf(chunk.items, delivery, deps);
  const atMs = clock();
  const canRepeat = key !== undefined && isRepeatable(settled, chunk.n, key, atMs);
  if (settled.unknown.has(chunk.n)) delivery.lostKeys.add(canRepeat ? key : undefined);
  const isUnknown = settled.unknown.has(chunk.n) && behavior.readBack !== undefined;
  const toSend = isUnknown && !canRepeat ? await findMissing(chunk.items, delivery, deps) : chunk.items;
  if (toSend.length === 0) return new Map();
  const keyed = key === undefined ? {} : { key, at: atMs };
  journal.append({ t: "send", n: chunk.n, items: chunk.items.length, extent: chunk.extent, ...keyed });
  // A repeatable call need not wait for the disk: if the line is lost, the call is sent again.
  if (isOnce) await journal.sync();
  return sendInParts(toSend, {
    send: (items, maxAttempts) => sendSettled(items, maxAttempts, delivery, deps),
    history: deps.history,
    itemName: behavior.itemName,
    probe: () => probe(delivery, deps),
    mustEnd: (error) => {
      delivery.onSplit();
      return abort.aborted || error === delivery.unsettled;
    },
    readRefusal: (error) => {
      delivery.refusal = error;
      return readCallRefusal(error, behavior.itemName);
    },
  });
}

/** A request that was answered. */
interface SentRequest {
  readonly items: readonly Item[];
  readonly idempotencyKey: string | undefined;
  readonly isKeyHonored: boolean;
  /** Whether the response is that of an earlier request. */
  readonly isReplay: boolean;
}

/** Sends items in one call. If its response is lost, settles it before sending it again. */
async function sendSettled(
  items: readonly Item[],
  maxAttempts: number | undefined,
  delivery: Delivery,
  deps: DeliveryDeps,
): Promise<Map<Item, RowError>> {
  const { behavior, service, abort } = deps;
  const options = { ...callOptions(delivery, deps), maxAttempts };
  let toSend = items;
  let isKeyed = true;
  for (let round = 1; ; round++) {
    await noteParts(toSend, delivery, deps);
    const idempotencyKey = isKeyed ? keyOf(toSend, delivery, deps) : undefined;
    countCall(delivery, deps);
    const request: SentRequest = { items: toSend, idempotencyKey, isKeyHonored: false, isReplay: false };
    const onEvent: CallOptions["onEvent"] = (event) => {
      if (event.type === "idempotency") Object.assign(request, { isKeyHonored: true, isReplay: event.isReplay });
      if (event.type === "wait" && event.mayBeDone === true) delivery.lostKeys.add(idempotencyKey);
      options.onEvent?.(event);
    };
    try {
      const result = await behavior.send(service, toSend, { ...options, onEvent, idempotencyKey });
      delivery.isTouched = true;
      recordOutcomes(request, result, delivery, behavior);
      return new Map(result.errors.map(({ item, ...problem }) => [toSend[item] as Item, problem]));
    } catch (error) {
      // Another version of the program sent the call, or another run the same record: it was carried out.
      const isKeyTaken = isKeyed && isRefusalOfKey(error);
      if (isKeyTaken) isKeyed = false;
      const isUnknown = isKeyTaken || mayBeDone(error);
      delivery.isTouched ||= isUnknown;
      if (isUnknown) delivery.lostKeys.add(isKeyTaken ? undefined : idempotencyKey);
      if (isKeyTaken && behavior.readBack === undefined) continue;
      const canSettle = error instanceof ServiceError && isUnknown && behavior.readBack !== undefined;
      if (!canSettle || abort.aborted) throw error;
      toSend = await findMissing(toSend, delivery, deps);
      if (toSend.length === 0) return new Map();
      if (round >= (maxAttempts ?? maxRounds)) throw error;
    }
  }
}

const isRefusalOfKey = (error: unknown) => error instanceof ServiceError && error.kind === "invalidIdempotencyKey";

const mayBeDone = (error: unknown) => !(error instanceof ServiceError) || error.outcomeUnknown;

function keyOf(items: readonly Item[], { chunk, isKeyed }: Delivery, deps: DeliveryDeps): string | undefined {
  return isKeyed ? keyOfCall(deps.behavior, deps.runId, chunk, items) : undefined;
}

/** Parts of a chunk have other keys, so after a crash, the key of the chunk no longer shows what has arrived. */
async function noteParts(items: readonly Item[], delivery: Delivery, { journal, isOnce }: DeliveryDeps): Promise<void> {
  const { chunk, isParted } = delivery;
  if (!isOnce || isParted || items.length === chunk.items.length) return;
  delivery.isParted = true;
  journal.append({ t: "parts", n: chunk.n });
  await journal.sync();
}

/** The outcome of most items, shared by all of them. */
const newlyCreated: RecordedOutcome = { outcome: "created", isRepeated: false };

function recordOutcomes(
  { items, idempotencyKey, isKeyHonored, isReplay }: SentRequest,
  result: SendResult,
  delivery: Delivery,
  { keyedBy }: ImportBehavior,
): void {
  // A request that is repeated under its key returns the result of the first one.
  const isCertain = (key: string | undefined) => isKeyHonored && key !== undefined && key === idempotencyKey;
  const isRepeated = ![...delivery.lostKeys].every(isCertain);
  // The result of a call that this run has not sent is that of another run.
  const isOthers = isReplay && keyedBy === "items" && !delivery.lostKeys.has(idempotencyKey);
  const { outcomes = [], dropped = [] } = result;
  for (const [at, item] of items.entries()) {
    const found = isOthers && outcomes[at] ? ({ outcome: "unchanged" } as const) : outcomes[at];
    if (!found) continue;
    const isPlain = found.outcome === "created" && !isRepeated;
    delivery.outcomes.set(item, isPlain ? newlyCreated : { ...found, isRepeated });
  }
  for (const { item: at, ...problem } of dropped) {
    const item = items[at];
    if (item) delivery.dropped.push({ item, problem });
  }
}

/** Finds which items of an unanswered call the service does not hold. */
async function findMissing(items: readonly Item[], delivery: Delivery, deps: DeliveryDeps): Promise<readonly Item[]> {
  const { behavior, service, report } = deps;
  countCall(delivery, deps);
  try {
    const isHeld = (await behavior.readBack?.(service, items, callOptions(delivery, deps))) ?? [];
    const missing = items.filter((_, at) => !isHeld[at]);
    for (const [at, item] of items.entries()) {
      if (isHeld[at]) delivery.outcomes.set(item, { outcome: "created", isRepeated: true });
    }
    const held = items.length - missing.length;
    const message = `a call was sent but not answered; ${held} of its ${items.length} items had arrived`;
    report({ type: "notice", message });
    return missing;
  } catch (error) {
    delivery.unsettled = error;
    throw error;
  }
}

/** Whether the service answers a call that is independent of the items. */
async function probe(delivery: Delivery, deps: DeliveryDeps): Promise<boolean> {
  countCall(delivery, deps);
  try {
    await deps.service.orders.list({ count: 1 }, { ...callOptions(delivery, deps), maxAttempts: probeAttempts });
    return true;
  } catch (error) {
    if (error instanceof ServiceError) return false;
    throw error;
  }
}

function countCall({ calls }: Delivery, { heartbeat }: DeliveryDeps): void {
  calls.sent++;
  heartbeat.sent();
}

function callOptions({ calls }: Delivery, { abort, report, heartbeat, onKeyHonored }: DeliveryDeps): CallOptions {
  const onEvent: CallOptions["onEvent"] = (event) => {
    if (event.type === "idempotency") onKeyHonored();
    if (event.type === "attempt" && event.attempt > 1) {
      calls.sent++;
      calls.retried++;
      heartbeat.sent(true);
    }
    if (event.type === "wait") {
      heartbeat.waited(event.reason, event.ms);
      if (event.reason === "throttled") calls.throttled++;
      report({ type: "wait", message: event.message, ms: event.ms });
    }
  };
  return { signal: abort, onEvent };
}

/** A call is not repeated under its key shortly before the service may forget it: clocks differ. */
const safeLifetimeMs = idempotencyKeys.lifetimeMs - hourMs;

/**
 * The idempotency key of a call: the same whenever a run sends the same items of the same chunk. Undefined if the kind
 * has none. The files of a run never change, so the keys of its items identify their content.
 */
export function keyOfCall(
  behavior: ImportBehavior,
  runId: string | undefined,
  { extent }: Chunk,
  items: readonly Item[],
): string | undefined {
  const { keyedBy, operation } = behavior;
  if (keyedBy === undefined || runId === undefined) return undefined;
  const scope = keyedBy === "run" ? [runId, extent] : [];
  const content = JSON.stringify([operation, ...scope, items.map(({ key }) => key)]);
  return `starpost-${hash("sha256", content, "base64url")}`;
}

/**
 * Whether a chunk without a known outcome can be sent again as it is, because the service still knows its key: it was
 * sent as one call, recently, and the service honored keys.
 */
export function isRepeatable({ honorsKeys, keyed, parted }: Settled, n: number, key: string, nowMs: number): boolean {
  const sent = keyed.get(n);
  if (!honorsKeys || !sent || sent.key !== key || parted.has(n)) return false;
  return sent.atMs <= nowMs && nowMs - sent.atMs < safeLifetimeMs;
}
