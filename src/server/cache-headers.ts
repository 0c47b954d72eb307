import { createHash } from "node:crypto";
import type { FastifyReply, FastifyRequest, onSendHookHandler } from "fastify";
import fresh from "fresh";
import { cacheControlOf, type Endpoint } from "../contract/index.ts";

/** The beginnings of ETags of responses whose account has a version. */
const versions = new WeakMap<FastifyReply, string>();

/**
 * Checks whether a client already has the response that belongs to a version of the account.
 * @param program identifies everything else that determines responses, such as the version of the program
 */
export function createVersionCheck(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  program: string,
): (version: number) => boolean {
  return (version) => {
    const start = `${program}.${version}.`;
    versions.set(reply, start);
    const tags = headers["if-none-match"]?.match(/(?:W\/)?"[\w.-]{1,100}"/g) ?? [];
    const known = tags.find((tag) => tag.replace(/^W\//, "").startsWith(`"${start}`));
    if (known !== undefined) void reply.header("etag", known);
    return known !== undefined;
  };
}

/**
 * States how caches may store the responses of an endpoint. Those that they may store get an ETag, and a request that
 * names the same ETag gets a 304 without a body. Besides its URL, only `Accept-Language` determines a response that may be
 * stored, if it is a page: then there is `Vary`.
 */
export function addCacheHeaders(endpoint: Endpoint): onSendHookHandler {
  const control = cacheControlOf(endpoint);
  return (request, reply, payload, done) => {
    const { statusCode } = reply;
    const mayStore =
      endpoint.caching !== undefined &&
      (statusCode === 200 || statusCode === 304) &&
      request.method !== "POST" &&
      !reply.hasHeader("cache-control");
    if (!mayStore || !(typeof payload === "string" || Buffer.isBuffer(payload))) {
      void reply.header("cache-control", "no-store");
      return done(null, payload);
    }
    void reply.header("cache-control", control);
    if (statusCode === 200) {
      const hash = createHash("sha256").update(payload).digest("base64url").slice(0, 27);
      // Weak, because a proxy may compress the body.
      const etag = `W/"${versions.get(reply) ?? ""}${hash}"`;
      void reply.header("etag", etag);
      // Without `Cache-Control`: `no-cache` asks a cache to validate its response here, which a 304 does.
      if (!fresh({ "if-none-match": request.headers["if-none-match"] }, { etag })) return done(null, payload);
    }
    void reply.code(304).removeHeader("content-type");
    return done(null, "");
  };
}
