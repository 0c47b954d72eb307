import { parseResponse } from "../../client/response-parser.ts";
import { endpointOf } from "../../contract/index.ts";
import type { RawResponse } from "../../service/raw-call.ts";
import type { OutputOf } from "../../service/transport.ts";
import { type Check, skipped } from "../check.ts";
import { checkWebhooks } from "../webhook-check.ts";

/** Checks the webhooks in a response. They are an addition of starpost, so other services need not have them. */
export async function checkRemoteWebhooks(
  list: () => Promise<RawResponse>,
  service: { readonly baseUrl: string; readonly utoken: string; readonly nowMs: number },
): Promise<Check> {
  const { baseUrl, utoken, nowMs } = service;
  try {
    const endpoint = endpointOf("webhooks.list");
    const request = { endpoint, service: baseUrl, path: endpoint.paths[0] ?? "", utoken, nowMs };
    const { webhooks } = parseResponse(await list(), request) as OutputOf<"webhooks.list">;
    const states = webhooks.map(({ url, event_name: event, failures_24h: failures, last_success_at: lastSuccess }) => ({
      url,
      event,
      failures,
      lastSuccessMs: typeof lastSuccess === "string" ? Date.parse(lastSuccess) : null,
    }));
    return checkWebhooks(states, nowMs);
  } catch (error) {
    return skipped("webhook-failures", `the webhooks could not be listed: ${(error as Error).message}`);
  }
}
