import { cpSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterEach, expect, test } from "vitest";
import { describeAtTerminal, Terminal, type TerminalOptions } from "../support/terminal.ts";
import { Transcript } from "../support/transcript.ts";

const opened: Terminal[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((terminal) => terminal.close()));
});

function openTerminal(options?: TerminalOptions): Terminal {
  const terminal = new Terminal(options);
  opened.push(terminal);
  cpSync(resolve("fixtures/good"), terminal.home, { recursive: true });
  return terminal;
}

/** Compares a scene with the stored one; `npx vitest run test/e2e/terminal.test.ts --update` updates it. */
async function expectScene(name: string, transcript: Transcript): Promise<void> {
  await expect(transcript.toString()).toMatchFileSnapshot(resolve("fixtures/transcripts", `${name}.txt`));
}

const columns = "order_id,email,customer_name,order_date,product_id,product_name,product_url";

/** A file with a number of orders, one row each. */
function writeOrders(terminal: Terminal, name: string, count: number): void {
  const rows = Array.from({ length: count }, (_, index) => {
    const product = index % 40;
    return `o${index},ann${index}@mail.example,Ann Tea,2026-01-10,p${product},Teapot ${product},https://shop.example/p/${product}`;
  });
  writeFileSync(join(terminal.home, name), [columns, ...rows, ""].join("\n"));
}

describeAtTerminal("at a terminal", () => {
  test("init prompts once on a fresh machine", async () => {
    const terminal = openTerminal({ rows: 16 });
    const transcript = new Transcript(terminal);
    await terminal.start("starpost init");
    transcript.add("prompt", await terminal.waitFor(/Where are your reviews stored\?[^]*⏎/));
    await terminal.press("Enter");
    transcript.add("local database selected", await terminal.waitForPrompt());
    await terminal.start("starpost init");
    await terminal.waitFor(/⏎/);
    await terminal.press("Down", "Enter");
    await terminal.waitFor(/Service URL/);
    await terminal.press("C-c");
    transcript.add("canceled with Ctrl-C", await terminal.waitForPrompt());
    transcript.add("profiles", await terminal.run("starpost profile list"));
    await expectScene("init", transcript);
  });

  test("shows the progress of an import, stops cleanly, and resumes", async () => {
    const terminal = openTerminal({ columns: 130 });
    const transcript = new Transcript(terminal);
    writeOrders(terminal, "january.csv", 6_000);
    await terminal.start("starpost orders import january.csv --rate 2");
    const progressLine = /of about 6,000 rows · .* left · .*calls\/s.* accepted · .* rejected · \d+ calls/;
    transcript.add("in progress", await terminal.waitFor(progressLine));
    await terminal.press("C-c");
    const stopped = await terminal.waitForPrompt();
    transcript.add("after Ctrl-C", stopped, { varying: /^ +(rows|sent|stored) / });
    const run = /starpost imports resume (\S+)/.exec(stopped)?.[1] ?? "";
    transcript.add("resumed", await terminal.run(`starpost imports resume ${run} --rate 0`));
    transcript.add("list of runs", await terminal.run("starpost imports list"));
    await expectScene("import-interrupted", transcript);
  });

  test("completes commands, flags, and the ID of an import", async () => {
    const terminal = openTerminal({ rows: 16 });
    const transcript = new Transcript(terminal);
    const imported = await terminal.run("starpost orders import orders.csv");
    const run = /imports show\s+(\S+)/.exec(imported)?.[1] ?? "";
    await terminal.run('eval "$(starpost completion bash)"');
    await terminal.press("C-l");
    await terminal.waitForPrompt();
    await terminal.write("starpost imp");
    await terminal.press("Tab");
    await terminal.waitFor(/starpost imports/);
    await terminal.write("sh");
    await terminal.press("Tab");
    await terminal.waitFor(/starpost imports show/);
    await terminal.write(run.slice(0, 3));
    await terminal.press("Tab");
    transcript.add("imp, sh, and the start of an ID", await terminal.waitFor(new RegExp(run)));
    await terminal.write("--js");
    await terminal.press("Tab");
    await terminal.waitFor(/--json/);
    await terminal.write("| head -c 60; echo");
    await terminal.press("Enter");
    transcript.add("run shown", await terminal.waitForPrompt());
    await terminal.press("C-l");
    await terminal.waitForPrompt();
    await terminal.write("starpost coupons delete --action ");
    await terminal.press("Tab");
    await terminal.waitFor(/map_/);
    await terminal.press("Tab", "Tab");
    transcript.add("values of a flag", await terminal.waitFor(/map_review_share/));
    await terminal.press("C-c");
    await expectScene("completion", transcript);
  });

  test("requires the name to confirm a deletion", async () => {
    const terminal = openTerminal();
    const transcript = new Transcript(terminal);
    await terminal.run("starpost coupons import coupons.csv --action map_review");
    await terminal.start("starpost coupons delete --action map_review");
    transcript.add("prompt", await terminal.waitFor(/type/i));
    await terminal.type("map");
    transcript.add("wrong name", await terminal.waitForPrompt());
    const withoutInput = "starpost coupons delete --action map_review --no-input; echo $?";
    transcript.add("no prompt", await terminal.run(withoutInput));
    transcript.add("nothing deleted", await terminal.run("starpost coupons stats"));
    await expectScene("destroying-refused", transcript);
  });

  test("lists the reasons of rejected rows, also on a narrow screen", async () => {
    const terminal = openTerminal({ columns: 60, rows: 24 });
    const transcript = new Transcript(terminal);
    cpSync(resolve("fixtures/bad/emails.csv"), join(terminal.home, "emails.csv"));
    transcript.add("rejected rows", await terminal.run("starpost orders import emails.csv"));
    transcript.add(
      "table that fits",
      await terminal.run("starpost products list --columns external_id,name,price,updated_at"),
    );
    await expectScene("rejects-narrow", transcript);
  });

  test("is not controlled by data, file names, or the names of profiles", async () => {
    const terminal = openTerminal({ columns: 120 });
    const title = await terminal.title();
    const hostile = "\u001B]0;taken over\u0007\u001B[2J\u009B31m\u202Egnp\rDone.\nDone.";
    const header = "code,extra\n";
    writeFileSync(join(terminal.home, `${hostile}.csv`), `${header}"AB${hostile}",x\n"A",x\n`);
    for (const command of [
      "starpost coupons import *.csv --action map_review --no-input",
      "starpost coupons import *Done..csv --action map_review --format csv",
      "starpost coupons list --details",
      "starpost coupons list --details --json",
      "starpost coupons list --details --format csv",
      `starpost coupons list --profile "$(printf 'a\\033]0;taken over\\007')"`,
      `starpost "$(printf '\\033]0;taken over\\007')"`,
    ]) {
      const screen = await terminal.run(command);
      expect(await terminal.title(), command).toBe(title);
      expect(screen, command).not.toMatch(/^Done\./m);
    }
  });

  test("prints usage errors in two lines", async () => {
    const terminal = openTerminal({ rows: 14 });
    const transcript = new Transcript(terminal);
    transcript.add("misspelled command", await terminal.run("starpost orders improt orders.csv"));
    transcript.add("missing file", await terminal.run("starpost orders import order.csv"));
    transcript.add("misspelled flag", await terminal.run("starpost orders import orders.csv --dryrun"));
    transcript.add("file of another record type", await terminal.run("starpost orders import products.csv"));
    await expectScene("mistakes", transcript);
  });
});
