import { expect, test } from "vitest";
import { findProfileFlag, keepProfile } from "../../src/cli/program/output/suggested-commands.ts";

test.each([
  ["To continue, run: starpost imports resume 1", "To continue, run: starpost imports resume 1 --profile shop"],
  ["run: starpost orders import 'a; b.csv'; or not", "run: starpost orders import 'a; b.csv' --profile shop; or not"],
  [
    String.raw`run: starpost orders import 'a'\''s.csv' --x; or`,
    String.raw`run: starpost orders import 'a'\''s.csv' --x --profile shop; or`,
  ],
  [
    "Run `starpost orders import` or `starpost orders create`.",
    "Run `starpost orders import --profile shop` or `starpost orders create --profile shop`.",
  ],
  ["(run: starpost mail why <order_id>)", "(run: starpost mail why <order_id> --profile shop)"],
  ["Run: starpost mail why 1. Then wait.", "Run: starpost mail why 1 --profile shop. Then wait."],
])("adds the profile to %j", (text, expected) => {
  expect(keepProfile(text, "shop")).toBe(expected);
});

test.each([
  "To sign in, run `starpost auth login --profile other`.",
  "Check the address of the service: starpost auth status.",
  "For details, run: starpost imports show 1",
  "run: starpost orders list --profile other",
  "a newer starpost created it",
])("leaves %j unchanged", (text) => {
  expect(keepProfile(text, "shop")).toBe(text);
});

test("quotes the profile, and adds none without the flag", () => {
  const text = "run: starpost orders list";
  expect(keepProfile(text, "my shop")).toBe(`${text} --profile 'my shop'`);
  expect(keepProfile(text, undefined)).toBe(text);
});

test.each([
  [["orders", "list", "--profile", "shop"], "shop"],
  [["orders", "list", "--profile=shop"], "shop"],
  [["-p", "shop", "orders", "--unknown"], "shop"],
  [["orders", "list", "-yp", "shop"], "shop"],
  [["orders", "list", "--", "--profile", "shop"], undefined],
  [["orders", "list", "--profile"], undefined],
])("finds the profile of %j", (argv, profile) => {
  expect(findProfileFlag(argv)).toBe(profile);
});
