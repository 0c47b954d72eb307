import { readFile } from "node:fs/promises";
import type { IncomingHttpHeaders } from "node:http";
import { paceFileOf } from "../client/shared-pace.ts";
import type { PaceState } from "../client/pace-state.ts";
import { readServiceLimit } from "../client/service-limit.ts";
import { parsePaceState } from "../client/shared-pace.ts";
import { codeOf } from "../config/user-error.ts";
import { type Check, type DoctorContext, ok, skipped, warning, problem } from "./check.ts";
import { formatDuration, countOf } from "../terminal/plural.ts";
import { dayMs } from "../contract/time.ts";

/** Reports how much of the service's rate limit remains. Source: spec "Limits". */
export function checkServiceLimit(headers: IncomingHttpHeaders, nowMs: number): Check {
  const limit = readServiceLimit(headers, nowMs);
  if (!limit) return skipped("rate", "the service did not report a rate limit");
  const { remaining, resetInMs } = limit;
  const max = headers["ratelimit-limit"];
  const total = typeof max === "string" && /^\d{1,12}$/.test(max) ? ` of ${max}` : "";
  const message = `${remaining}${total} calls remaining; the limit resets in ${Math.ceil(resetInMs / 1_000)} s`;
  if (remaining > 0) return ok("rate", message);
  return warning("rate", message, "Wait until the limit resets, and check what else calls the account.");
}

/** A process that has not written to the pacing file for this long no longer counts. */
const activeForMs = 3_000;

/** Checks the file through which processes on this machine share an account's rate limit. */
export async function checkPacing(
  { paths, clock }: Pick<DoctorContext, "paths" | "clock">,
  target: string,
  appKey: string | undefined,
): Promise<Check> {
  if (appKey === undefined) return skipped("pace", "the account does not exist yet");
  const path = `${paceFileOf(paths.limitsFolder, { target, appKey })}.json`;
  try {
    return describePacing(parsePaceState(await readFile(path, "utf8"), clock()), clock());
  } catch (error) {
    if (codeOf(error) === "ENOENT") return ok("pace", "no processes are calling the account");
    return warning(
      "pace",
      `cannot read ${path} (${(error as Error).message}); each process is paced separately`,
      "Allow reading and writing the folder, or delete the file.",
    );
  }
}

function describePacing({ participants, heldUntilMs, slowdown }: PaceState, nowMs: number): Check {
  const active = Object.values(participants).filter(({ seenMs }) => nowMs - seenMs < activeForMs);
  const rate = Math.max(0, ...active.map(({ ratePerSecond }) => ratePerSecond));
  const processes =
    active.length === 0
      ? "no processes are calling the account"
      : `${active.length === 1 ? "1 process" : `${active.length} processes`} limited to ${rate} calls per second in total`;
  if (heldUntilMs > nowMs) {
    const seconds = Math.ceil((heldUntilMs - nowMs) / 1_000);
    return warning(
      "pace",
      `${processes}; calls are paused for ${seconds} s because the service throttled them`,
      "Wait, or use a lower --rate.",
    );
  }
  return ok("pace", slowdown > 1.05 ? `${processes}, slowed down after throttling` : processes);
}

const setClock = "Set the clock, or synchronize it with a time server (timedatectl set-ntp true).";

const skewMs = { warning: 5_000, problem: 60_000 } as const;

/**
 * Compares this machine's clock with the service's.
 * @param aheadMs service time minus local time
 * @param uncertaintyMs maximum error of `aheadMs`
 */
export function checkClock(aheadMs: number, uncertaintyMs: number): Check {
  const differenceMs = Math.abs(aheadMs);
  const minDifferenceMs = Math.max(0, differenceMs - uncertaintyMs);
  if (minDifferenceMs <= skewMs.warning) {
    return ok(
      "clock",
      `this machine's clock is within ${formatDuration(differenceMs + uncertaintyMs)} of the service's`,
    );
  }
  const direction = aheadMs > 0 ? "behind" : "ahead of";
  const message = `this machine's clock is ${formatDuration(differenceMs)} ${direction} the service's`;
  return minDifferenceMs > skewMs.problem ? problem("clock", message, setClock) : warning("clock", message, setClock);
}

/** Compares this machine's clock with times that were recorded earlier, on this machine or by the database's clock. */
export function checkRecordedTimes(times: Readonly<Record<string, number | null | undefined>>, nowMs: number): Check {
  const known = Object.entries(times).flatMap(([what, ms]) => (ms === null || ms === undefined ? [] : [{ what, ms }]));
  const newest = known.toSorted((one, other) => other.ms - one.ms)[0];
  if (!newest) return skipped("clock", "nothing was recorded yet that it could be compared with");
  const aheadMs = newest.ms - nowMs;
  if (aheadMs <= skewMs.warning) return ok("clock", `this machine's clock is not behind ${newest.what}`);
  const message = `this machine's clock is ${formatDuration(aheadMs)} behind ${newest.what}`;
  return aheadMs > skewMs.problem ? problem("clock", message, setClock) : warning("clock", message, setClock);
}

/** The resolution of the `Date` header. Source: RFC 9110, section 6.6.1. */
const dateResolutionMs = 1_000;

/** Compares the clocks by the `Date` header of a response. */
export function checkResponseClock(
  headers: IncomingHttpHeaders,
  { sentAtMs, receivedAtMs }: { readonly sentAtMs: number; readonly receivedAtMs: number },
): Check {
  const dateMs = Date.parse(headers.date ?? "");
  if (Number.isNaN(dateMs)) return skipped("clock", "the response has no Date header");
  // A cached response has the date of the original response.
  const ageMs = Math.max(0, Number(headers.age ?? 0)) * 1_000 || 0;
  const serviceMs = dateMs + dateResolutionMs / 2 + ageMs;
  const uncertaintyMs = dateResolutionMs / 2 + (receivedAtMs - sentAtMs) / 2;
  return checkClock(serviceMs - (sentAtMs + receivedAtMs) / 2, uncertaintyMs);
}

const maxShown = 3;

interface WebhookState {
  readonly url: string;
  readonly event: string;
  /** Failed attempts in the last 24 hours; undefined if a service does not report them. */
  readonly failures: number | undefined;
  readonly lastSuccessMs: number | null;
}

/** Reports the webhooks for which attempts failed in the last 24 hours and none succeeded. */
export function checkWebhooks(webhooks: readonly WebhookState[], nowMs: number): Check {
  if (webhooks.length === 0) return ok("webhook-failures", "no webhooks");
  if (webhooks.every(({ failures }) => failures === undefined)) {
    return skipped("webhook-failures", "the service does not report how deliveries have gone");
  }
  const failures = webhooks.reduce((sum, webhook) => sum + (webhook.failures ?? 0), 0);
  const failing = webhooks.filter(
    (webhook) => (webhook.failures ?? 0) > 0 && (webhook.lastSuccessMs ?? 0) <= nowMs - dayMs,
  );
  if (failing.length === 0) {
    return ok(
      "webhook-failures",
      `${countOf(webhooks.length, "webhook")}, ${countOf(failures, "failed attempt")} in the last 24 h`,
    );
  }
  // The path of a URL may be secret.
  const shown = failing
    .slice(0, maxShown)
    .map(({ url, event, failures: failed = 0 }) => `${event} → ${new URL(url).origin} (${failed})`);
  const more = failing.length > maxShown ? `, and ${failing.length - maxShown} more` : "";
  return warning(
    "webhook-failures",
    `no delivery has succeeded in the last 24 h for ${failing.length} of ${countOf(webhooks.length, "webhook")}; failed attempts: ${shown.join(", ")}${more}`,
    "To see the reasons, run `starpost webhooks deliveries`.",
  );
}
