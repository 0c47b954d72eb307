import { describe, expect, test } from "vitest";
import { describeConnectError, toServiceError } from "../../../src/client/connection-failure.ts";
import { type Proxy, toProxyRefusal } from "../../../src/client/proxy.ts";
import { ServiceError } from "../../../src/contract/index.ts";

const failure = (code: string, event?: string, cause?: unknown) =>
  Object.assign(new Error("no"), { code, event, cause });
const proxy: Proxy = { address: "http://proxy.example:8080", variable: "HTTPS_PROXY" };
const unsent = "ECONNREFUSED ENOTFOUND EAI_AGAIN EHOSTUNREACH EHOSTDOWN ENETUNREACH ENETDOWN EADDRNOTAVAIL".split(" ");
const certificates = [
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
];

describe("a failed request", () => {
  const cases: readonly (readonly [code: string, event: string | undefined, kind: string, outcomeUnknown: boolean])[] =
    [
      ...unsent.map((code) => [code, undefined, "unavailable", false] as const),
      ...certificates.map((code) => [code, undefined, "unexpectedAnswer", false] as const),
      ["ETIMEDOUT", undefined, "unavailable", false],
      ["ETIMEDOUT", "lookup", "unavailable", false],
      ["ETIMEDOUT", "connect", "unavailable", false],
      ["ETIMEDOUT", "secureConnect", "unavailable", false],
      ["ETIMEDOUT", "response", "timeout", true],
      ["ETIMEDOUT", "request", "timeout", true],
      ["EPROTO", undefined, "unexpectedAnswer", false],
      ["ERR_SSL_WRONG_VERSION_NUMBER", undefined, "unexpectedAnswer", false],
      ["HPE_INVALID_CONSTANT", undefined, "unexpectedAnswer", true],
      ["ECONNRESET", undefined, "unavailable", true],
      ["ECONNABORTED", "request", "unavailable", true],
      ["EPIPE", undefined, "unavailable", true],
      ["X_HPE_", undefined, "unavailable", true],
    ];

  test.each(cases)("with %s (%s) is %s; its outcome is unknown: %s", (code, event, kind, outcomeUnknown) => {
    const error = failure(code, event);
    const found = toServiceError(error, "http://shop.example");
    expect(found).toMatchObject({ kind, outcomeUnknown, cause: error });
    expect((found as Error).message).toMatch(/^http:\/\/shop\.example: /);
  });

  test.each(cases)("through a proxy with %s (%s)", (code, event, _kind, outcomeUnknown) => {
    const found = toServiceError(failure(code, event), "http://shop.example", proxy) as ServiceError;
    const isProxy = unsent.includes(code) || certificates.includes(code) || /lookup|connect/i.test(event ?? "");
    expect(found.message.includes(proxy.address)).toBe(isProxy);
    expect([found.outcomeUnknown, found.hint?.includes(proxy.variable) ?? false]).toEqual([outcomeUnknown, isProxy]);
  });

  test("is not the proxy's after a connection, whatever phase it names", () => {
    const found = toServiceError(failure("ECONNRESET", "connect"), "http://shop.example", proxy) as ServiceError;
    expect([found.message.includes(proxy.address), found.outcomeUnknown]).toEqual([false, true]);
  });

  test("keeps the error of a tunnel, and bugs", () => {
    const tunnel = new ServiceError("unavailable", "no tunnel");
    expect(toServiceError(failure("ECONNRESET", undefined, tunnel), "s")).toBe(tunnel);
    const bug = new Error("bug");
    expect(toServiceError(bug, "s")).toBe(bug);
  });

  test("has a hint of its own for common certificates", () => {
    const hints = certificates.map((code) => (toServiceError(failure(code), "s") as ServiceError).hint);
    expect(new Set(hints).size).toBe(4);
  });
});

test("why a connection failed is described without its code only if it is known", () => {
  expect(describeConnectError(failure("ETIMEDOUT"))).not.toContain("ETIMEDOUT");
  expect(describeConnectError(failure("ECONNREFUSED"))).not.toContain("ECONNREFUSED");
  expect(describeConnectError(failure("CERT_HAS_EXPIRED"))).toContain("(CERT_HAS_EXPIRED)");
  expect(describeConnectError(failure("ECONNRESET"))).toContain("(ECONNRESET)");
  expect(describeConnectError(new Error("no"))).not.toContain("(");
});

test.each([
  [407, "unexpectedAnswer"],
  [403, "unexpectedAnswer"],
  [429, "unavailable"],
  [499, "unexpectedAnswer"],
  [500, "unavailable"],
  [502, "unavailable"],
])("a proxy that refuses with status %i is %s", (status, kind) => {
  const refusals = [proxy, { ...proxy, authorization: "Basic x" }].map((one) => toProxyRefusal(one, status, "shop"));
  for (const { kind: found, message, hint } of refusals) {
    expect([found, message.includes(`${status}`), hint?.includes(proxy.variable)]).toEqual([kind, true, true]);
  }
  expect(refusals[0]?.message === refusals[1]?.message).toBe(status !== 407);
});
