import { describe, expect, it } from "vitest";
import { filterFlagsOf, findFilter, toFieldFlags } from "../../src/cli/commands/operations/list-filters.ts";
import { readSince, readUntil } from "../../src/cli/program/relative-time.ts";

const nowMs = Date.UTC(2026, 10, 23, 9, 30);

describe("relative times", () => {
  it.each([
    ["7d", "2026-11-16T09:30:00.000Z", "2026-11-16T09:30:00.000Z"],
    ["24h", "2026-11-22T09:30:00.000Z", "2026-11-22T09:30:00.000Z"],
    ["2w", "2026-11-09T09:30:00.000Z", "2026-11-09T09:30:00.000Z"],
    ["today", "2026-11-23T00:00:00.000Z", "2026-11-24T00:00:00.000Z"],
    ["Yesterday", "2026-11-22T00:00:00.000Z", "2026-11-23T00:00:00.000Z"],
    ["2026-01-31", "2026-01-31T00:00:00.000Z", "2026-02-01T00:00:00.000Z"],
    ["2026-01-31T12:00:00Z", "2026-01-31T12:00:00.000Z", "2026-01-31T12:00:00.000Z"],
    ["2026-01-31T12:00:00+02:00", "2026-01-31T10:00:00.000Z", "2026-01-31T10:00:00.000Z"],
    ["99999w", "1970-01-01T00:00:00.000Z", "1970-01-01T00:00:00.000Z"],
  ])("reads %s", (text, since, until) => {
    expect([readSince(text, "--since")(nowMs), readUntil(text, "--until")(nowMs)]).toEqual([since, until]);
  });

  it.each(["", "7", "d", "-7d", "2026-02-30", "tomorrow", "1.5d", "123456d"])("rejects %j", (text) => {
    expect(() => readSince(text, "--since")).toThrow(expect.objectContaining({ kind: "usage" }));
    expect(() => readUntil(text, "--until")).toThrow(/--until/);
  });
});

describe("filters of a list", () => {
  const filters = filterFlagsOf("reviews.search", {}, ["published", "held"]);
  const known = { state: { description: "" }, "since-id": { description: "" }, "since-date": { description: "" } };

  it("are flags named after what they select", () => {
    expect(Object.keys(filters)).toEqual(
      expect.arrayContaining([
        "email",
        "product",
        "order",
        "score",
        "state",
        "since",
        "until",
        "search",
        "with-images",
      ]),
    );
    expect(Object.keys(filters)).not.toContain("page-info");
    expect(Object.keys(filters)).not.toContain("limit");
  });

  it.each([
    ["1", "1"],
    ["1..2", "1,2"],
    ["2-4", "2,3,4"],
    ["1,5", "1,5"],
    ["1,1..2", "1,2"],
  ])("read scores: %s", (text, scores) => {
    expect(filters["score"]?.read?.(text, "--score")).toBe(scores);
  });

  it.each(["0", "6", "2..1", "", "1,", "a", "1...2"])("reject scores: %j", (text) => {
    expect(() => filters["score"]?.read?.(text, "--score")).toThrow(expect.objectContaining({ kind: "usage" }));
  });

  it("read several states", () => {
    expect(filters["state"]?.read?.("held, published", "--state")).toBe("held,published");
    expect(() => filters["state"]?.read?.("held,lost", "--state")).toThrow(expect.objectContaining({ kind: "usage" }));
  });

  it("are needed only if the list does not know the flag", () => {
    expect(findFilter({}, known, filters)).toBeUndefined();
    expect(findFilter({ state: "held" } as never, known, filters)).toBeUndefined();
    expect(findFilter({ since: () => "" } as never, known, filters)).toBeUndefined();
    expect(findFilter({ state: "held,published" } as never, known, filters)).toBe("state");
    expect(findFilter({ email: "a@b.c", unanswered: undefined } as never, known, filters)).toBe("email");
    // Of a list that does not know times, all times are filters.
    expect(findFilter({ since: () => "" } as never, {}, filters)).toBe("since");
    const both = { email: "a@b.c", "since-id": 5 } as never;
    expect(() => findFilter(both, known, filters)).toThrow(expect.objectContaining({ kind: "usage" }));
  });

  it("become fields, with times in UTC", () => {
    const given = { product: "teapot", since: () => "then", unanswered: false, score: "1", until: undefined };
    const fields = { "product-id": "teapot", "since-date": "then", unanswered: false, score: "1" };
    expect(toFieldFlags(given, nowMs)).toEqual(fields);
  });
});
