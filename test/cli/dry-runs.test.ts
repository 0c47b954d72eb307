import { expect, test } from "vitest";
import { commands } from "../../src/cli/program/commands.ts";
import type { Command } from "../../src/cli/program/command.ts";

/** Commands that change nothing but files that they are asked to write. */
const readers: ReadonlySet<string> = new Set(
  (
    "account list, account show, account invitations, account email-status, alias list, auth credentials," +
    "auth status, auth token, backup list, backup verify, completion, database status," +
    "doctor, help, imports list, imports report, imports show, imports verify," +
    "mail templates preview, profile list, profile show"
  ).split(/, ?/),
);

/** Commands that change something and have no dry run, with the reason. */
const exceptions: Readonly<Record<string, string>> = {
  "auth login": "checks a secret by signing in; without that, it is `profile add`, which has one",
  "backup create": "adds a file, and changes nothing",
  "backup restore": "shows what it replaces and asks; `backup verify` checks the backup",
  "customers erase": "has --plan",
  "database distribute": "shows what it changes and asks",
  "imports apply": "carries out a plan, which shows every row",
  "imports resume": "continues a run; `imports show` shows what is left",
  init: "asks for each step",
  "mail run": "sends what is due; `mail list --state queued --sort soonest` shows it",
  "reviews moderate": "asks for each decision",
  serve: "runs until it is stopped",
  "unsubscribers sync": "has --plan",
  "webhooks listen": "shows deliveries until it is stopped",
};

test("every command that changes something has --dry-run, or a reason why not", async () => {
  const loaded: Command[] = await Promise.all(Object.values(commands).map((load) => load()));
  const isPlain = (name: string) => / (?:export|plan|map)$/.test(name);
  const without = loaded.filter(
    ({ name, calls, flags = {} }) => !("dry-run" in flags) && calls !== "read" && !isPlain(name),
  );
  const unexplained = without.filter(({ name }) => !readers.has(name) && !Object.hasOwn(exceptions, name));
  expect(unexplained.map(({ name }) => name)).toEqual([]);
  const names = new Set(without.map(({ name }) => name));
  expect([...readers, ...Object.keys(exceptions)].filter((name) => !names.has(name))).toEqual([]);
});

test("commands with another kind of preview have it", async () => {
  for (const name of ["customers erase", "unsubscribers sync"]) {
    expect(Object.keys((await commands[name]?.())?.flags ?? {})).toContain("plan");
  }
});
