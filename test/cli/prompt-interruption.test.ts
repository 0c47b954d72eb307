import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterAll, describe, expect, test } from "vitest";
import type { App } from "../../src/app/ports.ts";
import { Home } from "../support/starpost.ts";
import { loadBuilt } from "../support/built-program.ts";
import { makeFolder, openDialog, run } from "./support.ts";

/** What ends a prompt: a key, or a signal from another process. */
type End = { readonly key: string } | { readonly signal: "SIGINT" | "SIGTERM" | "SIGHUP" };

/** A terminal that ends the first prompt with `end`. */
function openTerminal(end: End) {
  let isEnded = false;
  const { io, text } = openDialog((shown, { stdin, signals }) => {
    if (isEnded || !/^\? |\(y\/N\)|Secret for|order_id/m.test(stripVTControlCharacters(shown))) return;
    isEnded = true;
    if ("key" in end) stdin.write(end.key);
    else signals.emit(end.signal);
  });
  // Undo runs the built app, because it starts a thread.
  return { io: { ...io, loadApp: async () => loadBuilt<App>("app") }, text };
}

const ends: [string, End, number, string][] = [
  ["Ctrl-C", { key: "\u0003" }, 130, "nothing was changed"],
  ["Ctrl-D", { key: "\u0004" }, 130, "nothing was changed"],
  ["SIGTERM", { signal: "SIGTERM" }, 130, "nothing was changed"],
  ["SIGHUP", { signal: "SIGHUP" }, 130, "nothing was changed"],
  ["SIGINT", { signal: "SIGINT" }, 130, "nothing was changed"],
  ["no", { key: "n\r" }, 1, "nothing was changed"],
];

const installed = new Home();
afterAll(() => installed.remove());

/** Creates a run of an address import and returns its ID. */
async function importAddresses(home: string): Promise<string> {
  writeFileSync(join(home, "u.csv"), "email\na@x.example\n");
  const args = ["unsubscribers", "import", join(home, "u.csv"), "--type", "1"];
  return (await installed.json(args, { env: { STARPOST_HOME: home } })).data.import_id;
}

async function listAddresses(home: string): Promise<string> {
  return (await installed.run(["unsubscribers", "export"], { env: { STARPOST_HOME: home } })).stdout;
}

describe.each(ends)("%s at a prompt", (_name, end, status, message) => {
  test("cancels an undo and a sync", async () => {
    const home = makeFolder();
    const env = { STARPOST_HOME: home };
    const id = await importAddresses(home);
    writeFileSync(join(home, "empty.csv"), "email\nb@x.example\n");
    const commands = [
      ["imports", "undo", id],
      ["unsubscribers", "sync", join(home, "empty.csv"), "--type", "1", "--max-resubscribe", "9"],
    ];
    for (const command of commands) {
      const terminal = openTerminal(end);
      const ran = await run(command, { env, io: terminal.io });
      expect([ran.status, ran.stdout]).toEqual([status, ""]);
      expect(terminal.text()).toContain(message);
      expect(terminal.text()).not.toContain("Ctrl-C again");
      expect(terminal.io.signals.eventNames()).toEqual([]);
    }
    expect(await listAddresses(home)).toContain("a@x.example");
    expect(await listAddresses(home)).not.toContain("b@x.example");
  });

  test("cancels a purge", async () => {
    const home = makeFolder();
    const id = await importAddresses(home);
    const terminal = openTerminal(end);
    const later = () => Date.now() + 90 * 24 * 3_600_000;
    const ran = await run(["imports", "purge", "--older-than", "30d"], {
      env: { STARPOST_HOME: home },
      io: { ...terminal.io, clock: later },
    });
    expect([ran.status, terminal.text()]).toEqual([status, expect.stringContaining(message)]);
    expect(existsSync(join(home, "imports", id))).toBe(true);
  });
});

test.each(ends.slice(0, 3))("%s at a secret prompt and at a mapping prompt ends with 130", async (_name, end) => {
  const home = makeFolder();
  const env = { STARPOST_HOME: home };
  writeFileSync(join(home, "best.csv"), "Nr;Kunde\n1;Max\n");
  const commands = [
    ["auth", "login", "--base-url", "http://127.0.0.1:9", "--app-key", "k"],
    ["orders", "map", join(home, "best.csv")],
  ];
  for (const command of commands) {
    const terminal = openTerminal(end);
    const ran = await run(command, { env, io: terminal.io });
    expect([ran.status, ran.stdout]).toEqual([130, ""]);
    expect(terminal.text()).toContain("nothing was changed");
  }
});

test("--json reports an interruption by its kind", async () => {
  const home = makeFolder();
  const id = await importAddresses(home);
  const terminal = openTerminal({ signal: "SIGTERM" });
  const ran = await run(["imports", "undo", id, "--json"], { env: { STARPOST_HOME: home }, io: terminal.io });
  expect([ran.status, ran.stdout]).toEqual([130, ""]);
  expect(terminal.text()).toContain('"kind":"interrupted"');
});
