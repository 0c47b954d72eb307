import { describe, expect, test } from "vitest";
import { endpointOf, ServiceError } from "../../../src/contract/index.ts";
import { parseResponse } from "../../../src/client/response-parser.ts";
import { mayRepeat } from "../../../src/client/http-transport.ts";

function refusalOf(status: number, body: object): ServiceError {
  const endpoint = endpointOf("reviews.createNow");
  const answer = { status, headers: {}, bytes: Buffer.from(JSON.stringify(body)) };
  const asked = { endpoint, service: "shop.example", path: "/reviews", utoken: undefined, nowMs: 0 };
  try {
    parseResponse(answer, asked);
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("an error in the body of a 200 response", () => {
  const failed = { status: { code: 500, message: "oops", error_type: "Exceptions::InternalError" } };

  test("has an unknown outcome if its own status has one", () => {
    expect(refusalOf(500, failed).outcomeUnknown).toBe(true);
    expect(refusalOf(200, failed).outcomeUnknown).toBe(true);
    expect(refusalOf(200, { status: { code: 504, message: "late" } }).outcomeUnknown).toBe(true);
  });

  test("is not retried for a call that must not be repeated", () => {
    expect(mayRepeat(refusalOf(200, failed), "once")).toBe(false);
    expect(mayRepeat(refusalOf(200, failed), "repeatable")).toBe(true);
  });

  test("has a known outcome if its type has one", () => {
    const throttled = refusalOf(200, { status: { code: 429, message: "slow down" } });
    expect(throttled.kind).toBe("tooManyRequests");
    expect(mayRepeat(throttled, "once")).toBe(true);
    const invalid = refusalOf(200, { status: { code: 422, message: "no" } });
    expect([invalid.kind, invalid.outcomeUnknown]).toEqual(["invalidParams", false]);
  });
});
