import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readToldError } from "../../../src/client/error-body.ts";
import {
  encodeError,
  type ErrorKind,
  errorKinds,
  httpStatusOf,
  ServiceError,
} from "../../../src/contract/index.ts";

const kinds = Object.keys(errorKinds) as ErrorKind[];

describe("readToldError", () => {
  it("reads every kind back from the form that names types", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...kinds),
        fc.constantFrom("status", "oauth"),
        fc.string(),
        (kind, form, message) => {
          const body = encodeError(new ServiceError(kind, message), form);
          const told = readToldError(httpStatusOf(kind, "status"), body);
          expect(told?.kind).toBe(kind);
          if (!("error" in body)) expect(told?.message).toBe(message);
        },
      ),
    );
  });

  it.each([
    "invalidParams",
    "recordNotFound",
    "unauthorized",
    "tooManyRequests",
    "internal",
    "unavailable",
  ] as const)("reads %s back from the core API's form, by its status", (kind) => {
    const body = encodeError(new ServiceError(kind, "why"), "core");
    expect(readToldError(httpStatusOf(kind, "core"), body)).toEqual({ kind, message: "why" });
  });

  it("takes no row's errors for an error of the call", () => {
    const rows = {
      status: { code: 200, message: "OK" },
      errors: [{ value: "x", error: "email is not valid" }],
    };
    expect(readToldError(200, rows)).toBeUndefined();
    expect(readToldError(200, { code: 200, errors: [{ message: "x" }] })).toBeUndefined();
  });

  it("goes by the body's code where the status line says that all is well", () => {
    expect(readToldError(200, { status: { code: 401, message: "who" } })).toEqual({
      kind: "unauthorized",
      message: "who",
    });
  });
});
