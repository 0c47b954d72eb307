import { describe, expect, it } from "vitest";
import { findJsonProblem, type JsonLimits, jsonLimits } from "../../../src/contract/json-text.ts";
import { measureCpu } from "../../support/cpu-time.ts";

const find = (text: string, limits?: JsonLimits) => findJsonProblem(Buffer.from(text), limits);

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
  it.each(Object.values(jsonLimits))("is nested too deeply, or has too many values: %o", (limits) => {
    const { depth, values } = limits;
    expect(find(nested(depth), limits)).toBeUndefined();
    expect(find(nested(depth + 1), limits)).toMatchObject({ isTooComplex: true, character: depth + 1 });
    expect(find(`{"a":"${"[".repeat(1_000)}"}`, limits)).toBeUndefined();
    expect(find(`[${"1,".repeat(values - 3)}1]`, limits)).toBeUndefined();
    expect(find(`[${"1,".repeat(values)}1]`, limits)).toMatchObject({ isTooComplex: true });
  });

  it.each(Object.values(jsonLimits))("has too many different names, wherever they are: %o", (limits) => {
    const { names } = limits;
    const fields = (count: number, from = 0) =>
      Array.from({ length: count }, (_, nth) => `"näme${(nth + from).toString(36)}" : 1`).join(",");
    expect(find(`{${fields(names)}}`, limits)).toBeUndefined();
    expect(find(`{${fields(names + 1)}}`, limits)).toMatchObject({ problem: expect.stringContaining("field names") });
    expect(find(`[{${fields(names)}},{${fields(names)}},"a:b"]`, limits)).toBeUndefined();
    const halves = Array.from({ length: 4 }, (_, nth) => `{${fields(names / 4, (nth * names) / 4)}}`);
    expect(find(`[${halves.join(",")}]`, limits)).toBeUndefined();
    expect(find(`[${halves.join(",")},{"another":1}]`, limits)).toBeDefined();
  });

  it("is checked in little time, whatever its names are", () => {
    // Names with the same hash.
    const alike = ["Aa", "BB"].flatMap((a) => ["Aa", "BB"].flatMap((b) => ["Aa", "BB"].map((c) => a + b + c)));
    const same = `[${`{${alike.map((name) => `"${name}":1`).join(",")}},`.repeat(20_000)}1]`;
    expect(measureCpu(() => expect(find(same)).toBeUndefined())).toBeLessThan(500);
  });

  it("is refused without parsing it", () => {
    const size = 10 * 1_024 * 1_024;
    for (const text of ["[".repeat(size), '{"":'.repeat(size / 4), "{},".repeat(size / 3)]) {
      expect(measureCpu(() => expect(find(text)).toBeDefined())).toBeLessThan(333);
    }
  });
});
