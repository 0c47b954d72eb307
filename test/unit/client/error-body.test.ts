import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseErrorBody } from "../../../src/client/response-parser.ts";
import { encodeError, type ErrorKind, errorKinds, httpStatusOf, ServiceError } from "../../../src/contract/index.ts";

const kinds = Object.keys(errorKinds) as ErrorKind[];

describe("parseErrorBody", () => {
  it("reads every kind from an error type", () => {
    fc.assert(
      fc.property(fc.constantFrom(...kinds), fc.constantFrom("status", "oauth"), fc.string(), (kind, form, message) => {
        const body = encodeError(new ServiceError(kind, message), form);
        const error = parseErrorBody(httpStatusOf(kind, "status"), body);
        expect(error?.kind).toBe(kind);
        if (!("error" in body)) expect(error?.message).toBe(message);
      }),
    );
  });

  it.each(["invalidParams", "recordNotFound", "unauthorized", "tooManyRequests", "internal", "unavailable"] as const)(
    "reads %s in the core API's format by its status",
    (kind) => {
      const body = encodeError(new ServiceError(kind, "why"), "core");
      expect(parseErrorBody(httpStatusOf(kind, "core"), body)).toEqual({ kind, message: "why" });
    },
  );

  it("does not mistake errors of rows for an error of the call", () => {
    const rows = { status: { code: 200, message: "OK" }, errors: [{ value: "x", error: "email is not valid" }] };
    expect(parseErrorBody(200, rows)).toBeUndefined();
    expect(parseErrorBody(200, { code: 200, errors: [{ message: "x" }] })).toBeUndefined();
  });

  it("uses the code in the body if the HTTP status is 200", () => {
    expect(parseErrorBody(200, { status: { code: 401, message: "who" } })).toEqual({
      kind: "unauthorized",
      message: "who",
    });
  });
});
