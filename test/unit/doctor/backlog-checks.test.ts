import { expect, test } from "vitest";
import { checkBacklog } from "../../../src/doctor/local/database-checks.ts";

const nowMs = 1_000_000_000;
const limitMs = 15 * 60_000;

test("tables of an older version are not checked", () => {
  expect(checkBacklog({ backlog: undefined }, nowMs)).toEqual([]);
});

test.each([
  [null, "ok", "no"],
  [nowMs + 1, "ok", "no"],
  [nowMs - limitMs, "ok", "oldest"],
  [nowMs - limitMs - 1, "warning", "oldest"],
])("due at %s: %s", (dueAtMs, status, word) => {
  const [email] = checkBacklog({ backlog: { emailDueAtMs: dueAtMs, webhookDueAtMs: null } }, nowMs);
  expect(email).toMatchObject({ name: "unsent-emails", status, message: expect.stringContaining(word) });
  const webhook = checkBacklog({ backlog: { emailDueAtMs: null, webhookDueAtMs: dueAtMs } }, nowMs)[1];
  expect(webhook).toMatchObject({ name: "webhooks", status, message: expect.stringContaining(word) });
});
