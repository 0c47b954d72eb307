import { describe, expect, it } from "vitest";
import { filterFlagsOf, findFilter, toFieldFlags } from "../../src/cli/commands/operations/list-filters.ts";
import { readRelativeDay, readSince, readUntil, toTimeRange } from "../../src/cli/program/relative-time.ts";
import { makeHomeWithDatabase, run } from "./support.ts";

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

describe("relative days", () => {
  it.each([
    ["7d", "2026-11-16"],
    ["24h", "2026-11-22"],
    ["today", "2026-11-23"],
    ["Yesterday", "2026-11-22"],
    ["2026-01-31", "2026-01-31"],
  ])("reads %s", (text, day) => {
    expect(readRelativeDay(text, "--since")(nowMs)).toBe(day);
  });

  it.each(["", "7", "2026-02-30", "2026-01-31T12:00:00Z", "tomorrow", "constructor"])("rejects %j", (text) => {
    expect(() => readRelativeDay(text, "--since")).toThrow(/^invalid value .* for --since: must be a date/);
  });
});

describe("ranges of time", () => {
  it("do not end before they start", () => {
    const range = (since: string, until: string) =>
      toTimeRange({ since: readSince(since, "--since"), until: readUntil(until, "--until") }, nowMs);
    expect(range("today", "today")).toEqual({
      since_date: "2026-11-23T00:00:00.000Z",
      until_date: "2026-11-24T00:00:00.000Z",
    });
    expect(() => range("7d", "10d")).toThrow(/^--until \(2026-11-13T.* is before --since \(2026-11-16T/);
    expect(() => range("today", "2026-11-22")).not.toThrow();
    expect(() => range("today", "2026-11-21")).toThrow(expect.objectContaining({ kind: "usage" }));
  });
});

describe("invalid filters", () => {
  it.each([
    ["reviews list --email nope", 'invalid value "nope" for --email'],
    ["orders list --email=", 'invalid value "" for --email'],
    ["questions list --email a@", 'invalid value "a@" for --email'],
    ["mail list --email nope", 'invalid value "nope" for --email'],
    ["mail why --email nope", 'invalid value "nope" for --email'],
    ["customers show nope", 'invalid value "nope" for <email>'],
    ["customers export nope", 'invalid value "nope" for <email>'],
    ["customers erase nope --plan", 'invalid value "nope" for <email>'],
    ["unsubscribers list --type 18", 'invalid value "18" for --type'],
    ["reviews list --search ...", 'invalid value "..." for --search'],
    ["orders list --product=", 'invalid value "" for --product'],
    ["orders list --order=", 'invalid value "" for --order'],
    ["reviews list --since 7d --until 10d", "--until ("],
    ["mail list --since 7d --until 10d", "--until ("],
    ["webhooks deliveries --since 7d --until 10d", "--until ("],
    ["imports list --since 7d --until 10d", "--until ("],
    ["orders list --since 7d --since-date 2026-01-01", "--since-date"],
    ["questions list teapot --product mug", "--product cannot be used with <sku>"],
    ["reviews list --with-images=no", "flag --with-images does not take a value"],
    ["reviews list --json=yes", "flag --json does not take a value"],
    ["reviews list --with-image=no", "unknown flag --with-image=no"],
    ["orders export --since 7x", 'invalid value "7x" for --since'],
    ["mail stats --since 7x", 'invalid value "7x" for --since'],
  ])("%s is a usage error", async (line, message) => {
    const env = { STARPOST_HOME: await makeHomeWithDatabase() };
    const { status, stdout, stderr } = await run([...line.split(" "), "--json"], { env });
    const { error } = JSON.parse(stderr) as { error: { message: string } };
    expect([status, stdout, error.message]).toEqual([2, "", expect.stringContaining(message)]);
  });

  it("exports and statistics accept an age", async () => {
    const env = { STARPOST_HOME: await makeHomeWithDatabase() };
    for (const line of ["orders export --since 7d", "reviews export --since yesterday", "mail stats --since 7d"]) {
      const { status, stderr } = await run(line.split(" "), { env });
      expect([line, status, stderr]).toEqual([line, 0, expect.not.stringContaining("error")]);
    }
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
