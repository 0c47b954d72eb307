import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkEnvironment, knownVariables } from "../../../src/doctor/environment-check.ts";
import { checkNode } from "../../../src/doctor/doctor.ts";
import { checkResponseClock } from "../../../src/doctor/service-checks.ts";

test("knows every variable that the source code reads", () => {
  const files = readdirSync("src", { recursive: true }).map(String);
  const read = files
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => readFileSync(join("src", file), "utf8").match(/\bSTARPOST_[A-Z_]*[A-Z]\b/g) ?? []);
  expect([...new Set(read)].filter((name) => !(name in knownVariables) && !name.endsWith("_SMTP"))).toEqual([]);
});

test.each([
  ["20.19.0", "ok"],
  ["20.18.3", "problem"],
  ["18.20.4", "problem"],
  ["22.0.0", "ok"],
  ["23.1.0", "warning"],
  ["26.0.0", "ok"],
  ["27.0.0", "warning"],
])("Node %s is %s", (version, status) => {
  expect(checkNode({ version, required: ">=20.19" }).status).toBe(status);
});

describe("the environment check", () => {
  test("hides passwords in any form", () => {
    const { message } = checkEnvironment({
      STARPOST_DATABASE: "postgres://role:p@ss#word@host/db",
      STARPOST_SECRET: "s3cret",
      STARPOST_KEY: "k3y",
      HTTPS_PROXY: "me:pass@proxy:3128",
      STARPOST_BASE_URL: "http://host/?token=t0ken",
    });
    expect(message).toContain("STARPOST_DATABASE=postgres://…@host/db");
    expect(message).not.toMatch(/ss#word|s3cret|k3y|me:pass|t0ken/);
    const inQuery = checkEnvironment({ STARPOST_DATABASE: "postgres://host/db?password=p@ss" });
    expect(inQuery.message).not.toMatch(/p@ss|password/);
  });
});

describe("the clock check", () => {
  const at = (ms: number) => ({ date: new Date(ms).toUTCString() });
  const sentAtMs = Date.UTC(2026, 0, 1);

  test.each([
    [4_000, "ok"],
    [8_000, "warning"],
    [-8_000, "warning"],
    [90_000, "problem"],
    [-90_000, "problem"],
  ])("reports a difference of %d ms as %s", (aheadMs, status) => {
    expect(checkResponseClock(at(sentAtMs + aheadMs), { sentAtMs, receivedAtMs: sentAtMs + 100 }).status).toBe(status);
  });

  test("accounts for a slow response", () => {
    const receivedAtMs = sentAtMs + 12_000;
    expect(checkResponseClock(at(sentAtMs), { sentAtMs, receivedAtMs }).status).toBe("ok");
  });
});
