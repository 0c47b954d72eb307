import { once } from "node:events";
import { connect, type LookupFunction } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createCheckedLookup, type Resolve } from "../../../../src/engine/webhooks/checked-request.ts";
import { createWebhookPost } from "../../../../src/worker/webhooks/webhook-request.ts";
import { sendJson, startLoopback, type Loopback } from "../../../support/loopback.ts";

const v4 = (address: string) => ({ address, family: 4 });
const v6 = (address: string) => ({ address, family: 6 });

function look(lookup: LookupFunction, options: object): Promise<unknown> {
  return new Promise((resolve, reject) => {
    lookup("shop.example", options, (error, address) => (error ? reject(error) : resolve(address)));
  });
}

describe("the lookup for connections", () => {
  it("returns all addresses, one address, or those of a family", async () => {
    const lookup = createCheckedLookup(false, async () => [v6("2606:4700::1"), v4("8.8.8.8")]);
    expect(await look(lookup, { all: true })).toEqual([v6("2606:4700::1"), v4("8.8.8.8")]);
    expect(await look(lookup, { all: false })).toBe("2606:4700::1");
    expect(await look(lookup, { family: 4 })).toBe("8.8.8.8");
    expect(await look(lookup, { all: true, family: 0 })).toHaveLength(2);
  });

  it("rejects a name if one of its addresses is forbidden, and fails like a DNS lookup", async () => {
    for (const address of ["10.0.0.1", "127.0.0.1", "169.254.169.254"]) {
      const lookup = createCheckedLookup(false, async () => [v4("8.8.8.8"), v4(address)]);
      await expect(look(lookup, { all: true })).rejects.toMatchObject({
        code: "ERR_ADDRESS_REFUSED",
        message: expect.stringContaining(`: ${address} is`),
      });
      expect(
        await look(
          createCheckedLookup(true, async () => [v4(address)]),
          { all: true },
        ),
      ).toEqual([v4(address)]);
    }
    const empty = createCheckedLookup(false, async () => []);
    await expect(look(empty, { all: true })).rejects.toMatchObject({ code: "ENOTFOUND" });
    const unknown = Object.assign(new Error("no such host"), { code: "ENOTFOUND" });
    await expect(
      look(
        createCheckedLookup(false, () => Promise.reject(unknown)),
        {},
      ),
    ).rejects.toBe(unknown);
  });

  it("is used by every connection", async () => {
    const lookup = createCheckedLookup(false, async () => [v4("127.0.0.1")]);
    const socket = connect({ host: "shop.example", port: 9, lookup });
    const [error] = (await once(socket, "error")) as [NodeJS.ErrnoException];
    expect(error.code).toBe("ERR_ADDRESS_REFUSED");
  });
});

describe("a webhook whose DNS name changes", () => {
  let receiver: Loopback;
  let port: string;
  beforeEach(async () => {
    receiver = await startLoopback((response) => sendJson(response, 200, {}));
    ({ port } = new URL(receiver.url));
  });
  afterEach(() => receiver.close());

  const post = (
    url: string,
    { isPrivateAllowed = false, resolve }: { isPrivateAllowed?: boolean; resolve?: Resolve },
  ) =>
    createWebhookPost({ clock: () => 1_000, version: "1", timeoutMs: 2_000, resolve })(
      {
        id: 1,
        accountId: 1,
        webhookId: 1,
        attemptId: 1,
        attempt: 1,
        url,
        eventId: "evt_1",
        body: "{}",
        secret: "whsec_AAAA",
        isPrivateAllowed,
      },
      new AbortController().signal,
    );

  it("is resolved once per attempt and connects only to the checked address", async () => {
    const asked: string[] = [];
    // A separate lookup before each connection would get the first address, and the connection the next.
    const answers = [[v4("127.0.0.1")], [v6("::1")], [v4("10.0.0.1"), v4("127.0.0.1")]];
    const resolve: Resolve = async (hostname) => {
      asked.push(hostname);
      return answers[asked.length - 1] ?? [];
    };
    const url = `http://shop.example:${port}/`;
    for (const address of ["127.0.0.1", "::1", "10.0.0.1"]) {
      expect(await post(url, { resolve })).toMatchObject({
        state: "failed",
        problem: "the host has no public address",
        detail: expect.stringContaining(`: ${address} is`),
      });
    }
    expect(asked).toEqual(["shop.example", "shop.example", "shop.example"]);
    expect(receiver.received).toEqual([]);
  });

  it("reaches this machine under its name if allowed", async () => {
    const outcome = await post(`http://shop.example:${port}/hook`, {
      isPrivateAllowed: true,
      resolve: async () => [v4("127.0.0.1")],
    });
    expect(outcome).toMatchObject({ state: "delivered", status: 200 });
    expect(receiver.received[0]?.headers.host).toBe(`shop.example:${port}`);
  });

  it("is rejected without a lookup if it is a forbidden IP address", async () => {
    const resolve: Resolve = () => Promise.reject(new Error("unexpected lookup"));
    for (const host of ["127.0.0.1", "2130706433", "0x7f.1", "127.1", "[::ffff:7f00:1]", "localhost", "localhost."]) {
      const outcome = await post(`http://${host}:${port}/`, { resolve });
      expect(outcome, host).toMatchObject({
        state: "failed",
        problem: expect.stringMatching(/^the URL is not allowed: /),
      });
    }
    expect(receiver.received).toEqual([]);
  });

  it("reports why it could not be reached", async () => {
    const unknown = Object.assign(new Error("no such host"), { code: "ENOTFOUND" });
    const closed = await startLoopback(() => {});
    await closed.close();
    const here: Resolve = async () => [v4("127.0.0.1")];
    const failures: readonly (readonly [string, Resolve, string])[] = [
      ["http://shop.example/", () => Promise.reject(unknown), "the host has no public address"],
      ["http://shop.example/", () => new Promise(() => {}), "no response within 2 s"],
      [closed.url.replace("127.0.0.1", "shop.example"), here, "connection refused"],
      [`https://shop.example:${port}/`, here, "the server does not support TLS on this port"],
    ];
    for (const [url, resolve, problem] of failures) {
      expect(await post(url, { isPrivateAllowed: true, resolve })).toMatchObject({ state: "failed", problem });
    }
  });
});
