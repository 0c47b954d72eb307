import { expect, test } from "vitest";
import { command } from "../../src/cli/program/command.ts";
import { confirmByName } from "../../src/cli/program/confirm.ts";
import { silent } from "../../src/terminal/view.ts";
import { makeFolder, openDialog, run } from "./support.ts";

/** A terminal that answers each expected prompt, in order. */
function openTerminal(answers: readonly (readonly [question: string, keys: string])[]) {
  const left = [...answers];
  let seen = 0;
  return openDialog((text, { stdin }) => {
    const [question, keys] = left[0] ?? [];
    if (question === undefined || keys === undefined || !text.slice(seen).includes(question)) return;
    left.shift();
    seen = text.length;
    stdin.write(keys);
  });
}

const table = {
  "coupons wipe": async () =>
    command({
      summary: "test",
      run: async (context) => {
        await confirmByName(context, "All codes of map_review are deleted.", "map_review");
        return { done: true };
      },
      render: (data) => silent(data),
    })("coupons wipe"),
};

test.each([
  ["map_review\r", 0, ""],
  ["map_share\r", 1, '"map_share"'],
  ["\r", 1, "nothing was changed"],
  ["\u0003", 130, "nothing was changed"],
])("requires typing the name to confirm: %j ends with %i", async (keys, status, message) => {
  const terminal = openTerminal([["Type map_review", keys]]);
  const ran = await run(["coupons", "wipe"], { table, env: { STARPOST_HOME: makeFolder() }, io: terminal.io });
  expect(ran.status).toBe(status);
  expect(terminal.text()).toContain(message);
});

test("--yes confirms; without a terminal and --yes the command fails", async () => {
  const settings = { table, env: { STARPOST_HOME: makeFolder() } };
  expect((await run(["coupons", "wipe", "--yes"], settings)).status).toBe(0);
  const ran = await run(["coupons", "wipe"], settings);
  expect([ran.status, ran.stderr]).toEqual([2, expect.stringContaining("--yes")]);
});

test("init creates a local account by default", async () => {
  const env = { STARPOST_HOME: makeFolder() };
  const terminal = openTerminal([["Where are your reviews stored?", "\r"]]);
  const ran = await run(["init"], { env, io: terminal.io });
  expect([ran.status, ran.stdout]).toEqual([0, expect.stringContaining("starpost serve")]);
  expect(terminal.text()).toContain("Created database");
});

test("init prompts for a remote account and never prints its secret", async () => {
  const env = { STARPOST_HOME: makeFolder() };
  const terminal = openTerminal([
    ["Where are your reviews stored?", "\u001B[B\r"],
    ["Service URL", "nowhere\r"],
    ['invalid value "nowhere"', "http://127.0.0.1:1\r"],
    ["App key", "my-key\r"],
    ["Secret for my-key at http://127.0.0.1:1", "hidden77\r"],
  ]);
  const ran = await run(["init"], { env, io: terminal.io });
  expect(ran.status).toBe(5);
  expect(terminal.text()).not.toContain("hidden77");
});
