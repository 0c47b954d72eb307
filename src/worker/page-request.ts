import { got, type Response } from "got";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Readable } from "node:stream";
import { explainRefusedUrl } from "../engine/webhooks/receiver-address.ts";
import { createCheckedLookup, describeFailure } from "./webhooks/webhook-request.ts";

export interface PageRequest {
  readonly url: string;
  /** Whether private addresses are allowed, also those that the page redirects to. */
  readonly isPrivateAllowed: boolean;
  /** For the complete request, including redirects. */
  readonly timeoutMs: number;
  readonly version: string;
  readonly clock: () => number;
}

/** Source: Fetch standard, which follows 20; shops rarely need more than two. */
const maxRedirects = 5;
const maxBytes = 5 * 1_024 * 1_024;

/**
 * Requests a page. The address, and each one that it redirects to, is checked as those of webhooks are.
 * @returns the last page, with the values of its header `Content-Security-Policy`
 * @throws Error with a message for people, if there is no response
 */
export async function requestPage(request: PageRequest) {
  const { isPrivateAllowed, timeoutMs, version, clock } = request;
  const startedAtMs = clock();
  const abort = AbortSignal.timeout(timeoutMs);
  const client = got.extend({
    retry: { limit: 0 },
    throwHttpErrors: false,
    followRedirect: false,
    signal: abort,
    // Connections are not reused, because a reused connection would bypass the address check.
    agent: { http: new HttpAgent({ keepAlive: false }), https: new HttpsAgent({ keepAlive: false }) },
    dnsLookup: createCheckedLookup(isPrivateAllowed),
    headers: { accept: "text/html", "user-agent": `starpost/${version}` },
  });
  let { url } = request;
  try {
    for (let redirects = 0; ; redirects += 1) {
      const refusal = explainRefusedUrl(url, isPrivateAllowed);
      if (refusal !== undefined) throw new Error(`${url} ${refusal}`);
      const { response, body } = await readResponse(client.stream(url));
      const { statusCode: status, headers } = response;
      const target = status >= 300 && status <= 399 ? headers.location : undefined;
      if (target === undefined) {
        const contentType = headers["content-type"] ?? "";
        // Node joins repeated headers with a comma, as browsers do.
        const policy = headers["content-security-policy"];
        const policies = policy === undefined ? [] : [policy].flat();
        const html = decode(body, contentType);
        return { url, status, policies, contentType, html, redirects, durationMs: clock() - startedAtMs };
      }
      if (redirects === maxRedirects) throw new Error(`more than ${maxRedirects} redirects`);
      if (!URL.canParse(target, url)) throw new Error("redirects to an invalid address");
      url = new URL(target, url).href;
    }
  } catch (error) {
    throw describeProblem(error, abort, timeoutMs);
  }
}

function describeProblem(error: unknown, abort: AbortSignal, timeoutMs: number): Error {
  if (abort.aborted) return new Error(`no complete response within ${timeoutMs / 1_000} s`, { cause: error });
  const { code } = error as { readonly code?: string };
  return code === undefined ? (error as Error) : new Error(describeFailure(error, timeoutMs), { cause: error });
}

async function readResponse(request: Readable): Promise<{ readonly response: Response; readonly body: Buffer }> {
  try {
    const responded = new Promise<Response>((resolve, reject) => {
      request.once("response", resolve);
      request.on("error", reject);
    });
    const response = await responded;
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of request) {
      bytes += (chunk as Buffer).length;
      if (bytes > maxBytes) throw new Error(`the page is larger than ${maxBytes / 1_024 / 1_024} MB`);
      chunks.push(chunk as Buffer);
    }
    return { response, body: Buffer.concat(chunks) };
  } finally {
    request.destroy();
  }
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
