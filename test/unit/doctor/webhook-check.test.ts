import { expect, test } from "vitest";
import { checkWebhooks } from "../../../src/doctor/service-checks.ts";

const nowMs = 1_000_000_000;
const dayMs = 86_400_000;
const url = "https://shop.example/secret-path?token=1";

test.each([
  [0, null, "ok"],
  [1, null, "warning"],
  [1, nowMs - dayMs, "warning"],
  [1, nowMs - dayMs + 1, "ok"],
  [undefined, null, "skipped"],
])("%s failures, last success at %s: %s", (failures, lastSuccessMs, status) => {
  const check = checkWebhooks([{ url, event: "review_create", failures, lastSuccessMs }], nowMs);
  expect(check).toMatchObject({ name: "webhook-failures", status });
  expect(check.message).not.toMatch(/secret|token/);
});

test("names at most three of the webhooks that fail", () => {
  const failing = (host: string) => ({
    url: `https://${host}.example/`,
    event: `event_${host}`,
    failures: 2,
    lastSuccessMs: null,
  });
  const healthy = { url, event: "review_create", failures: 0, lastSuccessMs: nowMs };
  const { message } = checkWebhooks([healthy, ...["a", "b", "c", "d"].map(failing)], nowMs);
  expect(message).toContain("4 of 5");
  expect(message.match(/https:..\w/g)).toEqual(["https://a", "https://b", "https://c"]);
  expect(message.match(/event_\w/g)).toEqual(["event_a", "event_b", "event_c"]);
});

test("without webhooks, there is nothing to report", () => {
  expect(checkWebhooks([], nowMs).status).toBe("ok");
});
