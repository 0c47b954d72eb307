import type { FastifyReply, FastifyRequest } from "fastify";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { Endpoint } from "../contract/index.ts";

/** Shorter responses are sent as they are: the headers of compression would take what it saves. */
const minBytes = 1_024;

/** Higher qualities of Brotli take several times as long, for a few percent. */
const encoders = {
  br: (text: Buffer) =>
    promisify(brotliCompress)(text, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_SIZE_HINT]: text.length },
    }),
  gzip: (text: Buffer) => promisify(gzip)(text),
} as const;

const encodings = Object.keys(encoders) as (keyof typeof encoders)[];

const textTypes = /^(?:text\/|application\/(?:javascript|json)\b)/;

const compressible = new WeakSet<FastifyReply>();

/**
 * Whether responses without a token may be compressed: what everybody may read. The length of a compressed response
 * discloses whether what a client sent occurs in it once more (BREACH), so personal pages and responses with secrets are never
 * compressed.
 */
export function isPublicRead({ auth, caching, effect, reply, returnsSecret = false }: Endpoint): boolean {
  if (effect !== "read" || returnsSecret || reply.media === "bytes") return false;
  return caching !== undefined || auth === "account";
}

/** Lets a response be compressed, by routes with the hook `compress`. */
export function allowCompression(reply: FastifyReply): void {
  compressible.add(reply);
}

/** Compresses a response for a client that accepts it, in another thread. ETags are weak, so they stay. */
export async function compress(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
  if (!compressible.has(reply) || !(typeof payload === "string" || Buffer.isBuffer(payload))) return payload;
  const content = typeof payload === "string" ? Buffer.from(payload) : payload;
  const isText = textTypes.test(String(reply.getHeader("content-type") ?? ""));
  if (reply.statusCode !== 304 && (!isText || content.length < minBytes)) return payload;
  const vary = reply.getHeader("vary");
  void reply.header("vary", [vary, "accept-encoding"].filter(Boolean).join(", "));
  const encoding = chooseEncoding(request);
  if (encoding === undefined || reply.statusCode === 304) return payload;
  void reply.header("content-encoding", encoding).removeHeader("content-length");
  return encoders[encoding](content);
}

/** The encoding in which to send a text. */
export function chooseEncoding({ headers }: Pick<FastifyRequest, "headers">): (typeof encodings)[number] | undefined {
  const accepted = headers["accept-encoding"] ?? "";
  return encodings.find((encoding) => accepts(accepted, encoding));
}

/** Whether `Accept-Encoding` has an encoding, unless its weight is 0. */
function accepts(accepted: string, encoding: string): boolean {
  return accepted.split(",").some((range) => {
    const [name = "", weight = ""] = range.split(";").map((part) => part.trim());
    return name.toLowerCase() === encoding && !/^q=0(?:\.0*)?$/i.test(weight);
  });
}
