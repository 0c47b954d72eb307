import type { IncomingHttpHeaders } from "node:http";
import { type Check, ok, skipped, warning } from "../check.ts";
import { readServiceLimit } from "../../client/service-limit.ts";

const name = "rate";

/** Says what the service leaves of its own limit. Source: spec "Limits". */
export function judgeLimit(headers: IncomingHttpHeaders, nowMs: number): Check {
  const limit = readServiceLimit(headers, nowMs);
  if (!limit) return skipped(name, "the service tells no limit of the calls that were made");
  const { remaining, resetInMs } = limit;
  const most = headers["ratelimit-limit"];
  const of = typeof most === "string" && /^\d{1,12}$/.test(most) ? ` of ${most}` : "";
  const message = `${remaining}${of} calls left in the service's window, which ends in ${Math.ceil(resetInMs / 1_000)} s`;
  if (remaining > 0) return ok(name, message);
  return warning(name, message, "Wait until it ends; see who else calls with this account.");
}
