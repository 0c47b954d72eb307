import { type AddressInfo, createServer, type Server } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { probeConnection } from "../../../src/client/connection-probe.ts";

/** Accepts connections and says nothing. */
const silent: Server = createServer(() => {});
let port = 0;
beforeAll(async () => {
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  ({ port } = silent.address() as AddressInfo);
});
afterAll(() => silent.close());

const probe = (url: string, signal = AbortSignal.timeout(10_000)) => {
  let now = 0;
  return probeConnection(new URL(url), { clock: () => (now += 5), signal });
};

test("measures each step", async () => {
  expect(await probe(`http://127.0.0.1:${port}/`)).toEqual({
    addresses: ["127.0.0.1"],
    durationsMs: { connect: 5 },
    certificateExpiresMs: undefined,
  });
  const named = await probe(`http://localhost:${port}/`);
  expect(named.addresses).toContain("127.0.0.1");
  expect(named.durationsMs.lookup).toBe(5);
});

test("names the step that failed", async () => {
  expect(await probe("http://no-such-host.invalid/")).toMatchObject({ addresses: [], failure: { step: "lookup" } });
  expect(await probe("http://127.0.0.1:1/")).toMatchObject({
    failure: { step: "connect", error: { code: "ECONNREFUSED" } },
  });
  expect(await probe("http://[::1]:1/")).toMatchObject({ addresses: ["::1"], failure: { step: "connect" } });
});

test("ends a step that takes too long", async () => {
  const probed = await probe(`https://127.0.0.1:${port}/`, AbortSignal.timeout(200));
  expect(probed.failure).toMatchObject({ step: "secure", error: { code: "ETIMEDOUT" } });
  const late = await probe(`http://127.0.0.1:${port}/`, AbortSignal.abort());
  expect(late.failure).toMatchObject({ step: "connect" });
});
