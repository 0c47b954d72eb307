import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import fresh from "fresh";
import { ServiceError } from "../contract/errors.ts";
import { extensionPrefix } from "../contract/endpoint.ts";
import { chooseEncoding } from "./compression.ts";
import { type Asset, assets, loader } from "../shop/assets.ts";

/** How long browsers may use the loader without asking whether it has changed, in seconds. */
const loaderAgeSeconds = 300;

const forever = "public, max-age=31536000, immutable";

/** Serves the scripts of the storefront elements to pages of any site. All but the loader have a hash in their names. */
export function addElements(app: FastifyInstance): void {
  const options = { exposeHeadRoute: true };
  app.get(`${extensionPrefix}/elements.js`, options, (request, reply) => {
    // Weak, because it is the same for all encodings.
    const etag = `W/"${loader.integrity.slice(-27)}"`;
    void reply.headers({ "cache-control": `public, max-age=${loaderAgeSeconds}`, etag });
    if (!fresh(request.headers, { etag })) return sendScript(loader, request, reply);
    return addCorsHeaders(reply).code(304).send();
  });
  app.get<{ Params: { name: string } }>(`${extensionPrefix}/elements/:name`, options, (request, reply) => {
    const { name } = request.params;
    const asset = Object.hasOwn(assets, name) ? assets[name] : undefined;
    if (!asset) throw new ServiceError("unknownPath", `no endpoint at ${request.method} ${request.url}`);
    void reply.header("cache-control", forever);
    return sendScript(asset, request, reply);
  });
}

function addCorsHeaders(reply: FastifyReply): FastifyReply {
  return reply.headers({
    "access-control-allow-origin": "*",
    "cross-origin-resource-policy": "cross-origin",
    vary: "accept-encoding",
  });
}

async function sendScript(asset: Asset, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  addCorsHeaders(reply).type("text/javascript; charset=utf-8");
  const encoding = chooseEncoding(request);
  const bytes = Buffer.from(encoding === "br" ? asset.brotli : asset.gzip, "base64");
  if (encoding === undefined) return reply.send(await promisify(gunzip)(bytes));
  return reply.header("content-encoding", encoding).send(bytes);
}
