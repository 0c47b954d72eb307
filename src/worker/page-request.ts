import { createAddressChecks, requestChecked } from "../engine/webhooks/checked-request.ts";

export interface PageRequest {
  readonly url: string;
  /** Whether private addresses are allowed, also those that the page redirects to. */
  readonly isPrivateAllowed: boolean;
  /** For the complete request, including redirects. */
  readonly timeoutMs: number;
  readonly version: string;
  readonly clock: () => number;
}

const maxBytes = 5 * 1_024 * 1_024;

/**
 * Requests a page. The address, and each one that it redirects to, is checked as those of webhooks are.
 * @returns the last page, with the values of its header `Content-Security-Policy`
 * @throws Error with a message for people, if there is no response
 */
export async function requestPage({ url: given, isPrivateAllowed, timeoutMs, version, clock }: PageRequest) {
  const startedAtMs = clock();
  const checks = createAddressChecks(isPrivateAllowed);
  const headers = { accept: "text/html", "user-agent": `starpost/${version}` };
  const { url, response, body, redirects } = await requestChecked(given, { checks, headers, timeoutMs, maxBytes });
  const contentType = response.headers["content-type"] ?? "";
  // Node joins repeated headers with a comma, as browsers do.
  const policy = response.headers["content-security-policy"];
  const policies = policy === undefined ? [] : [policy].flat();
  const [status, html] = [response.statusCode ?? 0, decode(body, contentType)];
  return { url, status, policies, contentType, html, redirects, durationMs: clock() - startedAtMs };
}

/** Decodes with the character set of the header (default: UTF-8). */
function decode(body: Buffer, contentType: string): string {
  const charset = /charset="?([\w.:-]+)/i.exec(contentType)?.[1] ?? "utf-8";
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    return body.toString("utf8");
  }
}
