import { array, assert, boolean, jsonValue, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { indentJson, toJsonLines } from "../../../src/cli/commands/api/response.ts";

describe("JSON text", () => {
  it("is indented like the output of JSON.stringify", () => {
    assert(
      property(jsonValue(), (value) => {
        expect(indentJson(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2));
      }),
    );
  });

  it("is split into one line per array element", () => {
    assert(
      property(array(jsonValue()), boolean(), (list, isIndented) => {
        const lines = toJsonLines(JSON.stringify(list, null, isIndented ? 3 : undefined));
        expect(lines).toEqual(list.map((element) => JSON.stringify(element)));
      }),
    );
    expect(toJsonLines('{\n "a": [1, 2]\n}')).toEqual(['{"a":[1,2]}']);
  });

  it("keeps numbers that JavaScript cannot represent", () => {
    expect(indentJson('{"id":12345678901234567890,"price":1.50}')).toBe(
      '{\n  "id": 12345678901234567890,\n  "price": 1.50\n}',
    );
  });
});
