import { expect, test } from "vitest";
import { findTargetFlags, keepTarget } from "../../src/cli/program/output/suggested-commands.ts";
import { makeFolder, run } from "./support.ts";

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
  expect(keepTarget(text, { profile: "shop" })).toBe(expected);
});

test.each([
  "To sign in, run `starpost auth login --profile other`.",
  "Check the address of the service: starpost auth status.",
  "For details, run: starpost imports show 1",
  "run: starpost orders list --profile other",
  "a newer starpost created it",
])("leaves %j unchanged", (text) => {
  expect(keepTarget(text, { profile: "shop" })).toBe(text);
});

test("quotes the profile, and adds none without the flag", () => {
  const text = "run: starpost orders list";
  expect(keepTarget(text, { profile: "my shop" })).toBe(`${text} --profile 'my shop'`);
  expect(keepTarget(text, {})).toBe(text);
});

test.each([
  [["orders", "list", "--profile", "shop"], { profile: "shop" }],
  [["orders", "list", "--profile=shop", "--account", "k1"], { profile: "shop", account: "k1" }],
  [["-p", "shop", "orders", "--unknown"], { profile: "shop" }],
  [["orders", "list", "-yp", "shop"], { profile: "shop" }],
  [["orders", "list", "--account=k1"], { account: "k1" }],
  [["orders", "list", "--", "--profile", "shop"], {}],
  [["orders", "list", "--profile"], {}],
])("finds the profile and the account of %j", (argv, target) => {
  expect(findTargetFlags(argv)).toEqual({ profile: undefined, account: undefined, ...target });
});

test("adds the account, except to commands that name one themselves", () => {
  const text = "Run `starpost orders list`, `starpost account list`, or `starpost profile list`.";
  expect(keepTarget(text, { profile: "shop", account: "k1" })).toBe(
    "Run `starpost orders list --profile shop --account k1`, `starpost account list --profile shop`, " +
      "or `starpost profile list`.",
  );
});

test("adds no account to commands that work for all accounts", () => {
  const target = { profile: undefined, account: "k1" };
  const text = "Run `starpost serve`, `starpost mail run --once`, or `starpost account set-email-quota k2 5`.";
  expect(keepTarget(text, target)).toBe(text);
  expect(keepTarget("Run `starpost account set --name Tea`.", target)).toBe(
    "Run `starpost account set --name Tea --account k1`.",
  );
});

test.each([
  ["reviews hide 999", "starpost reviews list"],
  ["reviews get 999", "starpost reviews list"],
  ["reviews rules delete 9 --yes", "starpost reviews rules list"],
  ["questions answer 99 --content x", "starpost questions list"],
  ["questions delete-answer 99 --yes", "starpost questions list --json"],
  ["groups get none", "starpost groups list"],
  ["mail show 99", "starpost mail list"],
  ["webhooks delete 99 --yes", "starpost webhooks list"],
])("after %s, which finds nothing, the hint names the list", async (line, list) => {
  const { status, stderr } = await run([...line.split(" "), "--json"], { env: { STARPOST_HOME: makeFolder() } });
  expect(status).toBe(1);
  expect(JSON.parse(stderr)).toMatchObject({ error: { hint: expect.stringContaining(`run \`${list}\`.`) as unknown } });
});
