import { createHash } from "node:crypto";
import { gunzipSync, brotliDecompressSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Asset, assets, loader } from "../../../src/shop/assets.ts";
import type { Server } from "../../../src/server/server.ts";
import { readResponse } from "../../support/raw-response.ts";
import { startServing } from "./start-test-server.ts";

const opened: Server[] = [];
let url: string;
beforeAll(async () => {
  ({ url } = await startServing(() => ({}), {}, opened));
});
afterAll(() => opened[0]?.close());

const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  readResponse(`${url}/starpost/v1/${path}`, headers, method);

const textOf = ({ gzip }: Asset) => gunzipSync(Buffer.from(gzip, "base64")).toString("utf8");

const forAnySite = {
  "access-control-allow-origin": "*",
  "cross-origin-resource-policy": "cross-origin",
  "content-type": "text/javascript; charset=utf-8",
  "x-content-type-options": "nosniff",
  vary: "accept-encoding",
};

describe("the loader of the elements", () => {
  it("is cached for five minutes, and then checked", async () => {
    const first = await get("elements.js?app_key=k");
    expect(first).toMatchObject({ status: 200, headers: { ...forAnySite, "cache-control": "public, max-age=300" } });
    expect(first.bytes.toString("utf8")).toBe(textOf(loader));
    const again = await get("elements.js", { "if-none-match": String(first.headers["etag"]) });
    expect(again).toMatchObject({ status: 304, headers: { "access-control-allow-origin": "*" } });
    expect(again.bytes).toHaveLength(0);
  });
});

describe("a script with a hash in its name", () => {
  it("is the one of its integrity, and never changes", async () => {
    for (const name of Object.keys(assets)) await check(name);
  });

  const check = async (name: string) => {
    const { status, headers, bytes } = await get(`elements/${name}`, { "accept-encoding": "gzip;q=0.5, BR" });
    expect({ status, headers }).toMatchObject({
      status: 200,
      headers: {
        ...forAnySite,
        "cache-control": "public, max-age=31536000, immutable",
        "content-encoding": "br",
      },
    });
    const hash = createHash("sha384").update(brotliDecompressSync(bytes)).digest("base64");
    expect(`sha384-${hash}`).toBe(assets[name]?.integrity);
  };

  it.each([
    ["gzip, deflate", "gzip"],
    ["br;q=0, gzip", "gzip"],
    ["identity", undefined],
    ["br;q=0.0, gzip;q=0", undefined],
  ])("is compressed as the client accepts it: %s", async (accepted, encoding) => {
    const { headers, bytes } = await get(`elements/${loader.name}`, { "accept-encoding": accepted });
    expect(headers["content-encoding"]).toBe(encoding);
    expect((encoding === "gzip" ? gunzipSync(bytes) : bytes).toString("utf8")).toContain("starpost-");
  });

  it("answers HEAD, and 404 to other names and methods", async () => {
    expect(await get(`elements/${loader.name}`, {}, "HEAD")).toMatchObject({ status: 200, bytes: Buffer.alloc(0) });
    for (const name of ["rating-AAAAAAAA.js", "..%2f..%2fpackage.json", "constructor", ""]) {
      expect(await get(`elements/${name}`)).toMatchObject({ status: 404 });
    }
    expect(await get(`elements/${loader.name}`, {}, "POST")).toMatchObject({ status: 404 });
  });
});
