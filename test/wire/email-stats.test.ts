import { describe, expect, it } from "vitest";
import { differences } from "../support/shape.ts";
import { emailCounters, ok } from "../support/wire-shapes.ts";
import { refusal, invalidParams } from "../support/wire-steps.ts";
import { useWire } from "../support/wire.ts";

const wire = useWire();

const categories = [
  "reminder",
  "testimonials_request",
  "anonymous_testimonials_request",
  "mail_after_service",
  "comment_request",
  "comment_notification",
  "site_reminder",
  "mail_after_invoice",
  "question_confirmation",
  "answer_request_shop_owner",
  "answer_request_shoppers",
  "answer_notification_shop_owner",
  "answer_notification_shoppers",
  "resend_reminder",
  "resend_custom_map",
  "resend_map",
  "custom_map",
  "map",
];

type Counters = Record<string, number>;
type Stats = Record<string, Record<string, Counters>>;

const request = (dates: string, query: string) => {
  const { appKey, utoken } = wire();
  return wire().request("GET", `/apps/${appKey}/email_stats/${dates}?utoken=${utoken}${query}`);
};
const read = async (dates: string, aggregate = "day", requested = categories): Promise<Stats> => {
  const { status, body } = await request(dates, `&categories=${requested.join(",")}&aggregate=${aggregate}`);
  expect([dates, status]).toEqual([dates, 200]);
  expect((body as { status: unknown }).status).toEqual(ok);
  return (body as { response: Stats }).response;
};
const sendTest = (body: object = {}) => wire().own("POST", "/apps/{app}/reminders/send_test_email", { ...body });

/** Sums a counter over all ranges and categories. */
const sum = (stats: Stats, counter = "requests") =>
  Object.values(stats)
    .flatMap((ranges) => Object.values(ranges))
    .reduce((total, counters) => total + (counters[counter] ?? Number.NaN), 0);

describe("GET /apps/{app_key}/email_stats/{since_date}/{to_date}", () => {
  it("returns every counter of every range for the requested categories", async () => {
    await sendTest({ email: "jo@shop.example" });
    const stats = await read("2026-03-14/2026-03-15", "day");
    expect(Object.keys(stats).toSorted()).toEqual(categories.toSorted());
    for (const ranges of Object.values(stats)) {
      for (const [range, counters] of Object.entries(ranges)) {
        expect(range).toMatch(/^\d{4}-\d\d-\d\d,\d{4}-\d\d-\d\d$/);
        expect(differences(counters, emailCounters)).toEqual([]);
      }
    }
    expect(sum(stats)).toBe(1);
    const one = await read("2026-03-15/2026-03-15", "day", ["reminder"]);
    expect(Object.keys(one)).toEqual(["reminder"]);
    expect(Object.keys(one["reminder"] ?? {})).toHaveLength(1);
  });

  it.each([
    ["day", "2026-03-01/2026-03-03", 3],
    ["week", "2026-03-01/2026-03-16", 3],
    ["month", "2026-01-01/2026-03-15", 3],
    ["quarter", "2026-01-01/2026-05-15", 2],
    ["year", "2025-01-01/2026-03-15", 2],
  ])("divides by %s, with a shorter last range", async (aggregate, dates, count) => {
    const { reminder = {} } = await read(dates, aggregate, ["reminder"]);
    const [since, to] = dates.split("/");
    const ranges = Object.keys(reminder).map((range) => range.split(",") as [string, string]);
    expect(ranges).toHaveLength(count);
    expect(ranges[0]?.[0]).toBe(since);
    expect(ranges.at(-1)?.[1]).toBe(to);
    const bounds = ranges.flat();
    expect(bounds).toEqual(bounds.toSorted());
    expect(new Set(ranges.map(([start]) => start)).size).toBe(count);
  });

  it.each([
    ["2026-03-01/2026-03-02", "&categories=reminder", "Missing aggregate"],
    ["2026-03-01/2026-03-02", "&aggregate=day", "Missing categories"],
    ["2026-03-01/2026-03-02", "&categories=reminder&aggregate=hour", "aggregate"],
    ["2026-03-01/2026-03-02", "&categories=reminder,gossip&aggregate=day", "categories"],
    ["2026-02-30/2026-03-02", "&categories=reminder&aggregate=day", "since_date"],
    ["2026-03-01/today", "&categories=reminder&aggregate=day", "to_date"],
    ["2026-03-02/2026-03-01", "&categories=reminder&aggregate=day", "to_date"],
  ])("rejects %s %s", async (dates, query, message) => {
    expect(await request(dates, query)).toMatchObject(invalidParams(expect.stringContaining(message)));
  });
});

describe("POST /apps/{app_key}/reminders/send_test_email", () => {
  it("sends to the account's address if none is given", async () => {
    const { request: send } = wire();
    const user = {
      email: "owner@tea.example",
      display_name: "Jo",
      password: "correct horse",
      url: "https://tea.example",
    };
    const { body: made } = await send("POST", "/users", { user });
    const { app_key, token } = (made as { response: { app_key: string; token: string } }).response;
    const path = `/apps/${app_key}/reminders/send_test_email`;
    const { status, body } = await send("POST", path, { utoken: token });
    expect([status, body]).toEqual([200, { status: ok }]);
    expect((await send("POST", `${path}?utoken=${token}`)).status).toBe(200);
    expect((await wire().emails()).map(({ email }) => email)).toEqual(["owner@tea.example", "owner@tea.example"]);
  });

  it("accepts the utoken in the query", async () => {
    const { appKey, utoken, request: send } = wire();
    const path = `/apps/${appKey}/reminders/send_test_email?utoken=${utoken}`;
    expect((await send("POST", path, { email: "jo@shop.example" })).status).toBe(200);
    expect(await wire().emails()).toHaveLength(1);
  });

  it("rejects an invalid address and a request without a utoken", async () => {
    const { status, body } = await sendTest({ email: "jo" });
    expect(status).toBe(500);
    expect(body).toEqual(refusal(expect.stringContaining("email"), 500, "InvalidParams"));
    expect((await sendTest({ utoken: undefined })).status).toBe(401);
    expect(await wire().emails()).toEqual([]);
  });
});
