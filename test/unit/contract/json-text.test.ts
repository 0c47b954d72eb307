import { describe, expect, it } from "vitest";
import { findJsonProblem, jsonLimits } from "../../../src/contract/json-text.ts";

const find = (text: string) => findJsonProblem(Buffer.from(text));

describe("an integer that would be rounded", () => {
  it.each([
    ['{"order_id":12345678901234567890}', 13, "order_id"],
    ['{"a":1,"since_id" : -9007199254740993}', 21, "since_id"],
    ['{"é":[1,2,9007199254740992]}', 11, "é"],
    ["[1e300,1]", 2, undefined],
    ["1e999", 1, undefined],
    ["12345678901234567890.0", 1, undefined],
    ['{"a":"b","c":{"d":1,"e":[{},90071992547409920]}}', 29, undefined],
  ])("is found in %s", (text, character, field) => {
    expect(find(text)).toMatchObject({ character, field });
  });

  it.each([
    '{"order_id":"12345678901234567890"}',
    '{"12345678901234567890":1}',
    String.raw`{"a\"":"\\","b":"\"12345678901234567890"}`,
    "9007199254740991",
    "-9007199254740991",
    "0.12345678901234567890",
    "12.3456789012345678",
    "1e3",
    "true",
    '{"a":[true,false,null,1.5e-7]}',
  ])("is not found in %s", (text) => {
    expect(find(text)).toBeUndefined();
  });
});

describe("a text that takes long to parse", () => {
  const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  it("is nested too deeply, or has too many values", () => {
    expect(find(nested(jsonLimits.depth))).toBeUndefined();
    expect(find(nested(jsonLimits.depth + 1))).toMatchObject({ character: jsonLimits.depth + 1 });
    expect(find(`{"a":"${"[".repeat(1_000)}"}`)).toBeUndefined();
    expect(find(`[${"1,".repeat(jsonLimits.values / 2)}1]`)).toBeUndefined();
    expect(find(`[${"1,".repeat(jsonLimits.values)}1]`)).toBeDefined();
  });

  it("is refused without parsing it", () => {
    const size = 10 * 1_024 * 1_024;
    const startMs = performance.now();
    for (const text of ["[".repeat(size), '{"":'.repeat(size / 4), "{},".repeat(size / 3)]) {
      expect(find(text)).toBeDefined();
    }
    expect(performance.now() - startMs).toBeLessThan(1_000);
  });
});
