import { afterEach, expect, test } from "vitest";
import { describeAtTerminal, Terminal } from "../support/terminal.ts";

const opened: Terminal[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((terminal) => terminal.close()));
});

interface Review {
  readonly id: number;
  readonly state: string;
  readonly comment: string | null;
}

const write = (title: string) =>
  "starpost reviews create --sku teapot --product-title Teapot --product-url https://shop.example/teapot " +
  "--display-name 'Ann Lee' --email ann@mail.example --review-content 'It pours well.' --review-score 4 " +
  `--review-title '${title}' > /dev/null`;

describeAtTerminal("moderation at a terminal", () => {
  test("decides with one key per review, undoes, comments, and reads decisions from a file", async () => {
    const terminal = new Terminal({ columns: 80, rows: 24 });
    opened.push(terminal);
    for (const [at, title] of ["First", "Second"].entries()) {
      await terminal.run(write(title));
      await terminal.run(`starpost reviews requeue ${at + 1} --reason 'has a link' > /dev/null`);
    }
    await terminal.start("starpost reviews moderate --by Bo");
    const first = await terminal.waitFor(/Review 1 · 1 of 2[^]*First[^]*Held: has a link[^]*It pours[^]*q quit/);
    expect(first.split("\n").filter((line) => /[a-z] quit|^it$/.test(line))).toHaveLength(1);
    await terminal.press("p");
    await terminal.waitFor(/Published review 1\.[^]*Review 2 · 2 of 2/);
    await terminal.press("u");
    await terminal.waitFor(/Undone[^]*Review 1 · 1 of 2/);
    await terminal.press("r");
    await terminal.waitFor(/Reason \(/);
    await terminal.type("Names a person");
    await terminal.waitFor(/Hid review 1\.[^]*Review 2/);
    await terminal.press("c");
    await terminal.waitFor(/Comment \(.*\bEsc\b.*\):/);
    await terminal.write("Never sent");
    await terminal.press("Escape");
    await terminal.waitFor(/Discarded[^]*Review 2/);
    // Sent at once, as by a fast typist.
    await terminal.press("cThank you", "Enter", "u");
    await terminal.waitFor(/Undone[^]*Review 2/);
    await terminal.press("cThank you", "Enter");
    await terminal.waitFor(/Comment of the store: Thank you/);
    await terminal.press("?");
    await terminal.waitFor(/undo the last decision/);
    await terminal.press("x");
    await terminal.waitFor(/Review 2 · 2 of 2/);
    await terminal.press("s");
    const end = await terminal.waitForPrompt();
    expect(end).toMatch(/1 hidden.*1 skipped.*1 commented/);

    await terminal.start("starpost reviews moderate --json > queue.json; starpost reviews history 1 --format ndjson");
    const history = await terminal.waitForPrompt();
    expect(history).toContain("Names a person");
    const comments = await terminal.run(
      "starpost reviews history 2 --jq '.[] | select(.event | test(\"comment\")) | .by'",
    );
    expect(comments.split("\n").filter((line) => line === "Bo")).toHaveLength(3);
    await terminal.run(
      `echo '{"id": 2, "decision": "publish", "reason": "fine"}' | starpost reviews moderate --decisions -`,
    );
    await terminal.start("clear; jq -c '.[] | {id, state, comment}' queue.json; starpost reviews moderate --json");
    const screen = await terminal.waitForPrompt();
    const queued = JSON.parse(/^\{.*\}$/m.exec(screen)?.[0] ?? "{}") as Review;
    expect(queued).toEqual({ id: 2, state: "held", comment: "Thank you" });
    expect(screen).toMatch(/^\[\]$/m);
  });
});
