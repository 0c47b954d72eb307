import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { makeFolder, openDialog, run } from "./support.ts";

const questions = ["Mail server", "Encryption", "Port", "User name", "Password", "Sender"] as const;
type Answers = Partial<Record<(typeof questions)[number], string | readonly string[]>>;

/** A terminal that answers each prompt once, or presses Enter if there is no (further) answer. */
function openTerminal(answers: Answers) {
  const asked: string[] = [];
  let answered = 0;
  const dialog = openDialog((text, { stdin }) => {
    const parts = stripVTControlCharacters(text).split("✔");
    const question = questions.find((name) => parts.at(-1)?.includes(`? ${name}`));
    // A redrawn prompt is not a new one.
    if (question === undefined || parts.length === answered) return;
    answered = parts.length;
    const nth = asked.filter((name) => name === question).length;
    asked.push(question);
    stdin.write(`${[answers[question] ?? []].flat()[nth] ?? ""}\r`);
  }, 200);
  return { ...dialog, asked };
}

const stored = (home: string) => JSON.parse(readFileSync(join(home, "mail.json"), "utf8")) as object;
const smtp = { host: "smtp.shop.example", port: 465, tls: "implicit", user: "shop", password: "hidden-word" };

test("mail configure prompts for a mail server and hides the password", async () => {
  const home = makeFolder();
  const env = { STARPOST_HOME: home };
  const terminal = openTerminal({
    "Mail server": "smtp.shop.example",
    Encryption: "implicit",
    "User name": "shop",
    Password: "hidden-word",
    Sender: "Tea <tea@shop.example>",
  });
  const ran = await run(["mail", "configure"], { env, io: terminal.io });
  expect(ran.status).toBe(0);
  expect(terminal.asked).toEqual([...questions]);
  expect(stored(home)).toEqual({ smtp, from: "Tea <tea@shop.example>" });
  expect(ran.stdout + terminal.text()).not.toContain("hidden-word");
  expect(ran.stdout).toMatch(/password +set$/m);

  const again = openTerminal({ Sender: "Cups <cups@shop.example>" });
  expect((await run(["mail", "configure"], { env, io: again.io })).status).toBe(0);
  expect(again.asked).not.toContain("Password");
  expect(stored(home)).toEqual({ smtp, from: "Cups <cups@shop.example>" });
});

test("prompts again after an invalid answer and keeps earlier answers", async () => {
  const home = makeFolder();
  const terminal = openTerminal({
    "Mail server": ["smtp shop", "smtp.shop.example"],
    Encryption: ["ssl", "implicit"],
    Port: "0",
    "User name": "shop",
    Password: "hidden-word",
    Sender: ["nobody", "Tea <tea@shop.example>"],
  });
  expect((await run(["mail", "configure"], { env: { STARPOST_HOME: home }, io: terminal.io })).status).toBe(0);
  for (const message of [
    'invalid value "smtp shop"',
    'invalid value "ssl"',
    'invalid value "0"',
    'invalid value "nobody"',
  ]) {
    expect(stripVTControlCharacters(terminal.text())).toContain(message);
  }
  expect(stored(home)).toEqual({ smtp, from: "Tea <tea@shop.example>" });
});

test("Ctrl-C saves nothing", async () => {
  const home = makeFolder();
  const env = { STARPOST_HOME: home };
  const interrupted = openTerminal({ "Mail server": "smtp.shop.example", Encryption: "\u0003" });
  const canceled = await run(["mail", "configure"], { env, io: interrupted.io });
  expect([canceled.status, interrupted.text()]).toEqual([130, expect.stringContaining("nothing was changed")]);
  expect(existsSync(join(home, "mail.json"))).toBe(false);
});

test("--show and --check do not prompt", async () => {
  const env = { STARPOST_HOME: makeFolder() };
  for (const flag of ["--show", "--check"]) {
    const terminal = openTerminal({});
    expect((await run(["mail", "configure", flag], { env, io: terminal.io })).status).toBe(0);
    expect(terminal.asked).toEqual([]);
  }
});
