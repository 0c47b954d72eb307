import { describe, expect, test } from "vitest";
import {
  findExposureSettings,
  readProxies,
  readPublicLimits,
} from "../../../../../src/cli/commands/serve/exposure-flags.ts";
import { publicLimits } from "../../../../../src/contract/index.ts";

describe("--public-limits", () => {
  test("turns limits on, off, or changes some of them", () => {
    expect([readPublicLimits("on", "--f"), readPublicLimits("off", "--f")]).toEqual([publicLimits, {}]);
    const { "images-per-client": _images, ...others } = publicLimits;
    expect(
      readPublicLimits("votes-per-client=7/8, images-per-client=off,submissions-per-recipient=9/day", "--f"),
    ).toEqual({
      ...others,
      "votes-per-client": { burst: 7, perHour: 8 },
      "submissions-per-recipient": { perDay: 9 },
    });
  });

  test("takes one number for connections", () => {
    const { "connections-per-client": _connections, ...others } = publicLimits;
    expect(readPublicLimits("connections-per-client=off", "--f")).toEqual(others);
    expect(readPublicLimits("connections-per-client=500", "--f")).toEqual({
      ...others,
      "connections-per-client": { burst: 500, perHour: 0 },
    });
  });

  test.each([
    "",
    "yes",
    "votes-per-client",
    "votes-per-client=0/1",
    "votes-per-client=1",
    "votes-per-client=100/day",
    "votes-per-client=0/day",
    "connections-per-client=1/1",
    "connections-per-client=1/day",
    "connections-per-client=0",
    "cpu-ms-per-client=9/day",
    "toString=1/1",
    "on,off",
  ])("rejects %j", (text) => {
    expect(() => readPublicLimits(text, "--public-limits")).toThrow(/\B--public-limits\b/);
  });
});

test("names only the forms that a limit has", () => {
  expect(() => readPublicLimits("cpu-ms-per-client=9/day", "--f")).not.toThrow(/an integer from 1 to 99 and/);
  expect(() => readPublicLimits("votes-per-client=9", "--f")).toThrow(/an integer from 1 to 99 and/);
});

describe("--trust-proxy", () => {
  test("accepts addresses and networks", () => {
    expect(readProxies("127.0.0.1, 10.0.0.0/8,::1,fd00::/8", "--f")).toEqual([
      "127.0.0.1",
      "10.0.0.0/8",
      "::1",
      "fd00::/8",
    ]);
  });

  test.each(["", "proxy.example", "10.0.0.0/33", "::/129", "10.0.0.0/", "1.2.3.4,", "true"])("rejects %j", (text) => {
    expect(() => readProxies(text, "--trust-proxy")).toThrow(/\B--trust-proxy\b/);
  });
});

test("both can be set in the environment, which flags override", () => {
  const env = { STARPOST_PUBLIC_LIMITS: "off", STARPOST_TRUST_PROXY: "10.0.0.1" };
  expect(findExposureSettings({}, env)).toEqual({ publicLimits: {}, trustedProxies: ["10.0.0.1"] });
  expect(findExposureSettings({ publicLimits, trustedProxies: ["::1"] }, env)).toEqual({
    publicLimits,
    trustedProxies: ["::1"],
  });
  expect(findExposureSettings({}, {})).toEqual({});
  expect(() => findExposureSettings({}, { STARPOST_TRUST_PROXY: "x" })).toThrow("STARPOST_TRUST_PROXY");
});
