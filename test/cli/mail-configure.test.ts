import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { makeFolder, run } from "./support.ts";

const questions = ["Mail server", "Encryption", "Port", "User name", "Password", "Sender"] as const;
type Answers = Partial<Record<(typeof questions)[number], string | readonly string[]>>;

/** A terminal at which a person answers each question by its first word; return where nothing, or nothing more, is said. */
function sitDown(answers: Answers) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => stdin });
  const stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 200, rows: 40 });
  // A prompt ends what it writes to, unless that is the process's own.
  stderr.end = () => stderr;
  const asked: string[] = [];
  let [text, settling, answered]: [string, NodeJS.Timeout | undefined, number] = ["", undefined, 0];
  const answer = () => {
    const parts = stripVTControlCharacters(text).split("✔");
    const question = questions.find((name) => parts.at(-1)?.includes(`? ${name}`));
    // One that is drawn anew is still the same question.
    if (question === undefined || parts.length === answered) return;
    answered = parts.length;
    const nth = asked.filter((name) => name === question).length;
    asked.push(question);
    stdin.write(`${[answers[question] ?? []].flat()[nth] ?? ""}\r`);
  };
  stderr.on("data", (data: Buffer) => {
    text += data.toString();
    clearTimeout(settling);
    settling = setTimeout(answer, 30);
  });
  return { io: { stdin, stderr, isStdinTerminal: true, isStderrTerminal: true }, asked, text: () => text };
}

const stored = (home: string) => JSON.parse(readFileSync(join(home, "mail.json"), "utf8")) as object;
const smtp = { host: "smtp.shop.example", port: 465, tls: "implicit", user: "shop", password: "hidden-word" };

test("mail configure at a terminal asks for a mail server, and hides the password", async () => {
  const home = makeFolder();
  const env = { STARPOST_HOME: home };
  const person = sitDown({
    "Mail server": "smtp.shop.example",
    Encryption: "implicit",
    "User name": "shop",
    Password: "hidden-word",
    Sender: "Tea <tea@shop.example>",
  });
  const ran = await run(["mail", "configure"], { env, io: person.io });
  expect(ran.status).toBe(0);
  expect(person.asked).toEqual([...questions]);
  expect(stored(home)).toEqual({ smtp, from: "Tea <tea@shop.example>" });
  expect(ran.stdout + person.text()).not.toContain("hidden-word");
  expect(ran.stdout).toMatch(/password +set$/m);

  const again = sitDown({ Sender: "Cups <cups@shop.example>" });
  expect((await run(["mail", "configure"], { env, io: again.io })).status).toBe(0);
  expect(again.asked).not.toContain("Password");
  expect(stored(home)).toEqual({ smtp, from: "Cups <cups@shop.example>" });
});

test("a wrong answer is asked for again, and what was answered before is kept", async () => {
  const home = makeFolder();
  const person = sitDown({
    "Mail server": ["smtp shop", "smtp.shop.example"],
    Encryption: ["ssl", "implicit"],
    Port: "0",
    "User name": "shop",
    Password: "hidden-word",
    Sender: ["nobody", "Tea <tea@shop.example>"],
  });
  expect((await run(["mail", "configure"], { env: { STARPOST_HOME: home }, io: person.io })).status).toBe(0);
  for (const said of [
    'invalid value "smtp shop"',
    'invalid value "ssl"',
    'invalid value "0"',
    'invalid value "nobody"',
  ]) {
    expect(stripVTControlCharacters(person.text())).toContain(said);
  }
  expect(stored(home)).toEqual({ smtp, from: "Tea <tea@shop.example>" });
});

test("Ctrl-C keeps nothing", async () => {
  const home = makeFolder();
  const env = { STARPOST_HOME: home };
  const gone = sitDown({ "Mail server": "smtp.shop.example", Encryption: "\u0003" });
  const canceled = await run(["mail", "configure"], { env, io: gone.io });
  expect([canceled.status, gone.text()]).toEqual([130, expect.stringContaining("nothing was changed")]);
  expect(existsSync(join(home, "mail.json"))).toBe(false);
});

test("nothing is asked for what is only to be shown or tried", async () => {
  const env = { STARPOST_HOME: makeFolder() };
  for (const flag of ["--show", "--check"]) {
    const person = sitDown({});
    expect((await run(["mail", "configure", flag], { env, io: person.io })).status).toBe(0);
    expect(person.asked).toEqual([]);
  }
});
