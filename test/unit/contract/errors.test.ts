import { expect, test } from "vitest";
import { missingField, parseErrorSubject, recordNotFound } from "../../../src/contract/errors.ts";

test("restores the record that was not found from its message", () => {
  const error = recordNotFound("Order", "order_id", "A-1");
  expect(error).toMatchObject({ kind: "recordNotFound", record: "Order" });
  expect(parseErrorSubject(error.kind, error.message)).toEqual({ record: "Order" });
});

test("restores the missing field from its message", () => {
  const error = missingField("user.email");
  expect(error).toMatchObject({ kind: "invalidParams", field: "user.email" });
  expect(parseErrorSubject(error.kind, error.message)).toEqual({ field: "user.email" });
});

test("finds no subject in other messages", () => {
  expect(parseErrorSubject("unauthorized", "Missing utoken")).toEqual({});
  expect(parseErrorSubject("recordNotFound", "not found").record).toBeUndefined();
});
