import { readFile } from "node:fs/promises";
import type { IncomingHttpHeaders } from "node:http";
import { paceFileOf } from "../client/pace-file.ts";
import type { PaceState } from "../client/pace-state.ts";
import { readServiceLimit } from "../client/service-limit.ts";
import { parsePaceState } from "../client/shared-pace.ts";
import { codeOf } from "../config/user-error.ts";
import { type Check, type DoctorContext, ok, skipped, warning } from "./check.ts";

/** Reports how much of the service's rate limit remains. Source: spec "Limits". */
export function checkServiceLimit(headers: IncomingHttpHeaders, nowMs: number): Check {
  const name = "rate";
  const limit = readServiceLimit(headers, nowMs);
  if (!limit) return skipped(name, "the service did not report a rate limit");
  const { remaining, resetInMs } = limit;
  const max = headers["ratelimit-limit"];
  const total = typeof max === "string" && /^\d{1,12}$/.test(max) ? ` of ${max}` : "";
  const message = `${remaining}${total} calls remaining; the limit resets in ${Math.ceil(resetInMs / 1_000)} s`;
  if (remaining > 0) return ok(name, message);
  return warning(name, message, "Wait until the limit resets, and check what else calls the account.");
}

/** A process that has not written to the pacing file for this long no longer counts. */
const activeForMs = 3_000;

/** Checks the file through which processes on this machine share an account's rate limit. */
export async function checkPacing(
  { paths, clock }: Pick<DoctorContext, "paths" | "clock">,
  target: string,
  appKey: string | undefined,
): Promise<Check> {
  const name = "pace";
  if (appKey === undefined) return skipped(name, "the account does not exist yet");
  const path = `${paceFileOf(paths.limitsFolder, { target, appKey })}.json`;
  try {
    return describePacing(name, parsePaceState(await readFile(path, "utf8"), clock()), clock());
  } catch (error) {
    if (codeOf(error) === "ENOENT") return ok(name, "no processes are calling the account");
    return warning(
      name,
      `cannot read ${path} (${(error as Error).message}); each process is paced separately`,
      "Allow reading and writing the folder, or delete the file.",
    );
  }
}

function describePacing(name: string, { participants, heldUntilMs, slowdown }: PaceState, nowMs: number): Check {
  const active = Object.values(participants).filter(({ seenMs }) => nowMs - seenMs < activeForMs);
  const rate = Math.max(0, ...active.map(({ ratePerSecond }) => ratePerSecond));
  const processes =
    active.length === 0
      ? "no processes are calling the account"
      : `${active.length === 1 ? "1 process" : `${active.length} processes`} limited to ${rate} calls per second in total`;
  if (heldUntilMs > nowMs) {
    const seconds = Math.ceil((heldUntilMs - nowMs) / 1_000);
    return warning(
      name,
      `${processes}; calls are paused for ${seconds} s because the service throttled them`,
      "Wait, or use a lower --rate.",
    );
  }
  return ok(name, slowdown > 1.05 ? `${processes}, slowed down after throttling` : processes);
}
