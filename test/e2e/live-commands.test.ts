import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadCommands, runBuilt, sendSignalsRepeatedly } from "../support/built-program.ts";
import { type CommandLine, commandLineOf, stockHome } from "../support/command-lines.ts";
import { readRows } from "../support/database-rows.ts";

const commands = await loadCommands();

/** Commands that need no confirmation on a profile that is not live, but do on a live one. */
const askedOnLive = [
  "products import",
  "orders import",
  "reviews import",
  "groups import",
  "products set-promoted",
  "orders create",
  "unsubscribers sync",
  "reviews comment",
  "reviews edit-comment",
  "reviews publish",
  "reviews hide",
  "reviews requeue",
  "groups update",
  "questions edit-answer",
  "questions publish",
  "questions hide",
  "imports apply",
  "mail unsuppress",
  "mail rules set",
  "account set",
  "account brand set",
  "account messages set",
  "account set-feature",
  "account set-platform",
  "account enable-email",
  "account disable-email",
  "account set-email-quota",
  "account approve-recipient",
  "account remove-recipient",
  "sealing-key rotate",
];

/** Commands that need confirmation on every profile. */
const alwaysAsked = [
  "coupons delete",
  "unsubscribers remove",
  "reviews delete-comment",
  "reviews rules delete",
  "groups delete",
  "questions delete-answer",
  "questions delete",
  "imports undo",
  "imports purge",
  "mail cancel",
  "mail send",
  "mail campaign create",
  "webhooks delete",
  "account revoke-credential",
  "account brand reset",
  "account messages reset",
  "sealing-key retire",
  "profile remove",
];

let stock: Awaited<ReturnType<typeof stockHome>>;
beforeAll(async () => {
  stock = await stockHome(async (call, folder) => {
    await call("profile", "add", "shop", "--database", join(folder, "starpost.db"), "--live");
    const plan = ["orders", "plan", resolve("fixtures/good/orders.csv"), "--out", join(folder, "plan.json")];
    await call(...plan, "--profile", "shop", "--yes");
  });
});
afterAll(() => stock.remove());

async function run(words: readonly string[], profile: string, { stdin, waits }: CommandLine) {
  const signalling = waits === undefined ? undefined : sendSignalsRepeatedly();
  try {
    const env = { STARPOST_HOME: stock.folder, STARPOST_KEYRING: "off", CI: "true", STARPOST_PROFILE: profile };
    return await runBuilt(words, { env, stdin, io: signalling && { signals: signalling.signals } });
  } finally {
    signalling?.end();
  }
}

/** Whether a command ended because nobody could be asked about a write. */
function isRefused({ status, stderr }: { readonly status: number; readonly stderr: string }): boolean {
  return status === 2 && stderr.includes("cannot prompt for confirmation");
}

const asked: string[] = [];
const askedAnyway: string[] = [];

describe("without a terminal and without --yes, changes nothing of a live profile that is stored:", () => {
  test.each(commands.map((command) => [command.name, command] as const))("%s", async (name, command) => {
    const line = commandLineOf(command);
    if (!line) throw new Error("the command is not listed");
    stock.renew();
    const before = readRows(stock.folder);
    const runs = readdirSync(join(stock.folder, "imports"));
    const words = [...name.split(" "), ...line.words(stock)];
    const unconfirmed = words.filter((word) => word !== "--yes");
    const ran = await run(unconfirmed, "shop", line);
    const after = readRows(stock.folder);
    // A worker records what it sends.
    const changed = [...before.keys()].filter((key) => after.get(key) !== before.get(key));
    if (line.waits === undefined) expect(changed).toEqual([]);
    if (!isRefused(ran)) return;
    expect([...after]).toEqual([...before]);
    expect(readdirSync(join(stock.folder, "imports"))).toEqual(runs);
    // Files of this machine belong to no profile.
    if (name !== "imports purge" && name !== "profile remove")
      expect(ran.stderr).toContain(`shop (live, ${stock.folder}`);
    expect(isRefused(await run([...words, "--yes"], "shop", line))).toBe(false);
    stock.renew();
    const isAskedAnyway = isRefused(await run(unconfirmed, "local", line));
    (isAskedAnyway ? askedAnyway : asked).push(name);
  });

  test("asks only where something is overwritten or removed", () => {
    expect(asked).toEqual(askedOnLive);
    expect(askedAnyway).toEqual(alwaysAsked);
  });
});
