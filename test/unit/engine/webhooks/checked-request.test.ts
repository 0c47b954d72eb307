import { afterEach, describe, expect, test } from "vitest";
import { createCheckedLookup, requestChecked } from "../../../../src/engine/webhooks/checked-request.ts";
import { explainRefusedUrl } from "../../../../src/engine/webhooks/receiver-address.ts";
import { type Loopback, type Responder, startLoopback } from "../../../support/loopback.ts";

const servers: Loopback[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function serve(respond: Responder): Promise<Loopback> {
  const server = await startLoopback(respond);
  servers.push(server);
  return server;
}

const redirectTo =
  (location: string): Responder =>
  (response) =>
    response.writeHead(302, { location }).end();

/** Requests a server as if it had a public address; no other one of this machine has. */
const request = ({ url }: Loopback, limits: { readonly timeoutMs?: number; readonly maxBytes?: number } = {}) =>
  requestChecked(`${url}/photo`, {
    checks: {
      refuse: (target) => (target.startsWith(`${url}/`) ? undefined : explainRefusedUrl(target, false)),
      lookup: createCheckedLookup(false, async () => [{ address: "127.0.0.1", family: 4 }]),
    },
    headers: { accept: "image/*" },
    timeoutMs: 5_000,
    maxBytes: 100,
    ...limits,
  });

describe("a request with address checks", () => {
  test("follows redirects, and returns the last response", async () => {
    const server = await serve((response, at) =>
      at < 5 ? response.writeHead(302, { location: `hop?${at}` }).end() : response.end("photo"),
    );
    const { url, response: last, body, redirects } = await request(server);
    expect([url, last.statusCode, body.toString(), redirects]).toEqual([`${server.url}/hop?4`, 200, "photo", 5]);
    expect(server.received[0]?.headers).toMatchObject({ accept: "image/*", "accept-encoding": "identity" });
    const loop = await serve((response) => response.writeHead(302, { location: "/again" }).end());
    await expect(request(loop)).rejects.toThrow("more than 5 redirects");
    expect(loop.received).toHaveLength(6);
  });

  test("refuses redirects to private addresses, names that resolve to them, and other protocols", async () => {
    const secret = await serve((response) => response.end("secret"));
    const port = new URL(secret.url).port;
    for (const [location, problem] of [
      [`${secret.url}/metadata`, "127.0.0.1 is a loopback address"],
      [`http://[::ffff:127.0.0.1]:${port}/`, "127.0.0.1 is a loopback address"],
      [`http://2130706433:${port}/`, "127.0.0.1 is a loopback address"],
      ["http://169.254.169.254/latest/meta-data", "169.254.169.254 is a link-local address"],
      [`http://localhost:${port}/`, "localhost is a name in a private network"],
      [`http://photos.example:${port}/`, "the host has no public address"],
      [`//ann:secret@photos.example:${port}/`, "must not contain a user name or password"],
      ["file:///etc/passwd", "must use http or https"],
      ["http://[", "redirects to an invalid address"],
    ] as const) {
      const server = await serve(redirectTo(location));
      await expect(request(server), location).rejects.toThrow(problem);
    }
    expect(secret.received).toEqual([]);
  });

  test("ends after a time, however slowly the response arrives, and at a size", async () => {
    const silent = await serve(() => {});
    await expect(request(silent, { timeoutMs: 200 })).rejects.toThrow("no complete response within 0.2 s");
    const slow = await serve((response) => {
      const timer = setInterval(() => response.write("."), 20);
      response.on("close", () => clearInterval(timer));
    });
    await expect(request(slow, { timeoutMs: 300, maxBytes: 1e6 })).rejects.toThrow("no complete response within 0.3 s");
    const announced = await serve((response) => response.writeHead(200, { "content-length": 101 }).write("x"));
    await expect(request(announced)).rejects.toThrow("larger than 100 bytes");
    const endless = await serve((response) => {
      for (let at = 0; at < 100; at += 1) response.write("x".repeat(50));
    });
    await expect(request(endless)).rejects.toThrow("larger than 100 bytes");
    const broken = await serve((response) => {
      response.writeHead(200, { "content-length": 50 }).write("x");
      setTimeout(() => response.destroy(), 50);
    });
    await expect(request(broken)).rejects.toThrow("connection closed before a response was received");
    const closed = await serve(() => {});
    await closed.close();
    await expect(request(closed)).rejects.toThrow("connection refused");
  });
});
