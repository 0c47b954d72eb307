import * as fc from "fast-check";
import { expect, it } from "vitest";
import { parseProviderEvents } from "../../../../../src/engine/emails/events/provider-events.ts";
import { createSealer } from "../../../../../src/engine/kernel/sealer.ts";
import { createMessageKey, parseMessageKey } from "../../../../../src/engine/emails/message-key.ts";

const read = (event: unknown) => parseProviderEvents(JSON.stringify([event]))[0];

/** Any JSON without an integer that a number cannot represent exactly, which the parser refuses. */
const exactJson = fc.jsonValue().filter((value) => {
  const numbers: unknown[] = [];
  JSON.stringify(value, (_key, inner: unknown) => {
    if (typeof inner === "number") numbers.push(inner);
    return inner;
  });
  return numbers.every((number) => !Number.isInteger(number) || Number.isSafeInteger(number));
});

it("accepts any list and reads only valid events", () => {
  const names = ["event", "email", "timestamp", "smtp-id", "sg_event_id", "sg_message_id", "reason", "type"];
  const providerEvent = fc.dictionary(
    fc.constantFrom(...names),
    fc.oneof(fc.string({ unit: "binary" }), exactJson, fc.constantFrom("open", "dropped", "bounce", "<a@b>")),
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(providerEvent, exactJson)), (events) => {
      const elements = parseProviderEvents(JSON.stringify(events));
      expect(elements).toHaveLength(events.length);
      for (const element of elements) {
        if (element.event === undefined) continue;
        expect(element.key).toMatch(/^[\w.:=+/@-]{1,200}$/);
        expect(element.providerId ?? "x").toMatch(/^[\w.:=+/@-]{1,200}$/);
        expect(element.occurredAtMs ?? 1).toBeGreaterThan(0);
      }
    }),
  );
});

it("reads the provider's documented example", () => {
  expect(
    read({
      email: "Example@Test.com",
      timestamp: 1_513_299_569,
      "smtp-id": "<14c5d75ce93.dfd.64b469@ismtpd-555>",
      event: "bounce",
      category: "cat facts",
      sg_event_id: "6g4ZI7SA-xmRDv57GoPIPw==",
      sg_message_id: "14c5d75ce93.dfd.64b469.filter0001.16648.5515E0B88.0",
      reason: "500 unknown recipient",
      status: "5.0.0",
    }),
  ).toEqual({
    event: "bounced",
    messageKey: "14c5d75ce93.dfd.64b469",
    providerId: "14c5d75ce93.dfd.64b469.filter0001.16648.5515E0B88.0",
    addressKey: "example@test.com",
    key: "6g4ZI7SA-xmRDv57GoPIPw==",
    detail: "5.0.0 500 unknown recipient",
    isTransient: false,
    occurredAtMs: 1_513_299_569_000,
  });
});

it("identifies a repeated event without an ID by all of its fields", () => {
  const event = { event: "open", timestamp: 1_513_299_569, "smtp-id": "<a@b>", email: "ann@mail.example" };
  expect(read(event)?.key).toBe(read({ ...event, useragent: "x" })?.key);
  expect(read(event)?.key).not.toBe(read({ ...event, timestamp: 1_513_299_570 })?.key);
  expect(read(event)?.key).not.toBe(read({ ...event, event: "click" })?.key);
});

it("does not store the clicked URL, because email links are private", () => {
  expect(JSON.stringify(read({ event: "click", url: "https://shop.example/secret" }))).not.toContain("secret");
});

it("matches an email by its own key only", () => {
  const [sealer, other] = [createSealer(Buffer.alloc(32, 1)), createSealer(Buffer.alloc(32, 2))];
  const key = createMessageKey(12, sealer);
  expect(key).toMatch(/^12-[0-9a-f]{32}$/);
  expect(createMessageKey(12, sealer)).toBe(key);
  expect(parseMessageKey(key, sealer)).toBe(12);
  expect(parseMessageKey(key, other)).toBeUndefined();
  for (const wrong of [key.replace("12-", "13-"), `0${key}`, key.toUpperCase(), `${key}0`, "12-", "", "12"]) {
    if (wrong !== key) expect(parseMessageKey(wrong, sealer)).toBeUndefined();
  }
});
