import { describe, expect, it } from "vitest";
import { argumentsOf } from "../../src/cli/program/argument-help.ts";
import type { Command } from "../../src/cli/program/command.ts";
import { parseCommandLine } from "../../src/cli/program/command-line.ts";
import { commands, loadCommands } from "../../src/cli/program/commands.ts";
import { helpOfCommand, helpOfNoun, textOfTopic } from "../../src/cli/program/help/find-help.ts";
import { topics } from "../../src/cli/program/help/topics.ts";
import { recordKinds } from "../../src/records/index.ts";
import { emailTypeNames } from "../../src/contract/emails/type-names.ts";
import { emailTypes } from "../../src/contract/unsubscribers.ts";
import { kinds } from "../support/record-kinds.ts";
import { listCommandFiles } from "../../.ci/generated-modules.js";
import { modulesLoadedBy } from "../support/loaded-modules.ts";
import { run } from "./support.ts";

const all = await Promise.all(Object.values(commands).map((load) => load()));
const allTopics = Object.values(topics);
const named = (list: readonly Command[]) => list.map(({ name }) => name);

describe("every command", () => {
  it("has examples, each of which begins with its name", () => {
    const without = all.filter(
      ({ name, examples = [] }) => !examples.some((line) => line.startsWith(`starpost ${name}`)),
    );
    expect(named(without)).toEqual([]);
  });

  it("is in a group with a summary", async () => {
    const groups = new Set(
      all.flatMap(({ name }) =>
        name
          .split(" ")
          .slice(0, -1)
          .map((_, at, words) => words.slice(0, at + 1).join(" ")),
      ),
    );
    for (const name of groups) expect((await run(["help", name])).stdout).toMatch(/^[A-Z][^]*?\.\n/);
    expect((await run(["help", "reviews", "rules"])).stdout).toMatch(/^[^\n]*reviews/);
    expect((await run(["help", "mail", "rules"])).stdout).toMatch(/^[^\n]*emails/);
  });

  it("has at least two examples", () => {
    expect(named(all.filter(({ examples = [] }) => examples.length < 2))).toEqual([]);
  });

  it.each(all.flatMap(({ examples = [] }) => examples).map((line) => [line]))(
    "has valid examples: %s",
    async (line) => {
      for (const argv of splitShellLine(line)) {
        const listed = await loadCommands(commands, argv);
        const parsed = parseCommandLine(argv, listed);
        expect(parsed).toHaveProperty("command");
      }
    },
  );

  it("describes its arguments", () => {
    const undescribed = all.filter((command) => argumentsOf(command).some(([, note]) => !note?.description));
    expect(named(undescribed)).toEqual([]);
  });

  it.each([40, 80, 110])("has help that fits %i columns, except for lines to copy", (width) => {
    for (const command of all) {
      const unbroken = new Set((command.examples ?? []).map((line) => `  $ ${line}`));
      const wide = helpOfCommand(command, width)
        .split("\n")
        .filter((line) => line.length > width && !unbroken.has(line) && /\S\s+\S/.test(line.trim()));
      expect(wide, command.name).toEqual([]);
    }
  });

  it("shows arguments, flags, examples, and notes", () => {
    for (const command of all) {
      const help = helpOfCommand(command, 1_000);
      const flags = Object.entries(command.flags ?? {}).map(([name, { description }]) => [`--${name}`, description]);
      const texts = [...flags.flat(), ...(command.examples ?? []), ...(command.notes ?? [])];
      for (const text of [command.summary, ...texts]) expect(help, command.name).toContain(text);
    }
  });
});

describe("help", () => {
  it("shows required flags in the usage line and first in the list", async () => {
    const { stdout } = await run(["unsubscribers", "sync", "--help"]);
    expect(stdout).toContain("USAGE\n  starpost unsubscribers sync <file...> --type <type> [flags]\n");
    expect(stdout.indexOf("--type <type>  ")).toBeLessThan(stdout.indexOf("--plan"));
  });

  it("for a noun shows the summary of each verb", async () => {
    const { stdout, status } = await run(["mail", "--help"]);
    expect(status).toBe(0);
    for (const { name, summary } of all.filter((found) => found.name.startsWith("mail "))) {
      const folded = stdout.replaceAll(/\s+/g, " ");
      expect(folded).toContain(`${name.slice(5)} ${summary}`.replaceAll(/\s+/g, " "));
    }
    expect((await run(["mail", "templates", "--help"])).stdout).toContain("USAGE\n  starpost mail templates <verb>");
  });

  it("prints the same as --help", async () => {
    const same = [
      [["help"], ["--help"]],
      [
        ["help", "mail"],
        ["mail", "--help"],
      ],
      [
        ["help", "mail", "templates"],
        ["mail", "templates", "--help"],
      ],
      [
        ["help", "orders", "import"],
        ["orders", "import", "--help"],
      ],
      [
        ["help", "serve"],
        ["serve", "--help"],
      ],
    ] as const;
    for (const [asked, flagged] of same) {
      const found = await run(asked);
      expect(found.status).toBe(0);
      expect(found.stdout).toBe((await run(flagged)).stdout);
    }
  });

  it("prints JSON with --json", async () => {
    const { stdout } = await run(["help", "orders", "import", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ about: "orders import", help: expect.stringContaining("USAGE") });
  });

  it("suggests a similar name for an unknown topic", async () => {
    const { status, stderr } = await run(["help", "exit-status"]);
    expect(status).toBe(2);
    expect(stderr).toContain("exit-statuses");
  });

  it("does not load the contract's shapes or large packages", () => {
    const heavy = ["zod", "contract/index.ts", "chalk", "inquirer", "got", "kysely", "fastify"];
    const files = [
      ...listCommandFiles().map(({ path }) => `cli/commands/${path}`),
      "cli/program/command-line.ts",
      "cli/program/help/overview.ts",
    ];
    const found = files.flatMap((file) => {
      const loaded = modulesLoadedBy(file);
      return heavy.filter((name) => loaded.has(name)).map((name) => `${file} loads ${name}`);
    });
    expect(found).toEqual([]);
  });
});

describe("help topics", () => {
  it("are listed with their summaries", async () => {
    const { stdout } = await run(["help", "topics"]);
    for (const { name, summary } of allTopics) {
      expect(stdout.replaceAll(/\s+/g, " ")).toContain(`${name} ${summary}`);
    }
  });

  it.each(allTopics.map((topic) => [topic.name, topic] as const))(
    "are printed completely and fit the screen: %s",
    async (name, topic) => {
      const { stdout, status } = await run(["help", name]);
      expect(status).toBe(0);
      expect(stdout).toBe(textOfTopic(topic, 80));
      const copied = new Set(
        topic.blocks.flatMap((block) =>
          typeof block === "object" && "lines" in block ? block.lines.map((line) => `  ${line}`) : [],
        ),
      );
      expect(stdout.split("\n").filter((line) => line.length > 80 && !copied.has(line))).toEqual([]);
    },
  );

  it("contain valid commands", () => {
    const lines = allTopics.flatMap(({ blocks }) =>
      blocks.flatMap((block) => (typeof block === "object" && "lines" in block ? block.lines : [])),
    );
    const typed = lines.filter((line) => line.startsWith("starpost "));
    expect(typed.length).toBeGreaterThan(15);
    for (const argv of typed.flatMap(splitShellLine)) {
      expect(parseCommandLine(argv, all)).toHaveProperty("command");
    }
  });

  it("do not share a name with a command", () => {
    const nouns = new Set(Object.keys(commands).map((name) => name.split(" ")[0]));
    expect(Object.keys(topics).filter((name) => nouns.has(name))).toEqual([]);
  });
});

describe("values that record kinds declare without loading code", () => {
  it("are all layouts and email types", () => {
    for (const { name: kindName, layoutNames = [] } of recordKinds) {
      const names = kinds.get(kindName).layouts.map(({ name }) => name);
      expect([...layoutNames].toSorted()).toEqual(names.filter((name) => !/-(?:dmy|mdy)$/.test(name)).toSorted());
    }
    expect(Object.keys(emailTypeNames)).toEqual(Object.keys(emailTypes));
  });
});

describe("the help of a noun", () => {
  it("fits the width of the screen", () => {
    const lines = helpOfNoun("things", "Manage things", all, 60).split("\n");
    expect(lines.filter((line) => line.length > 60)).toEqual([]);
  });
});

/** Returns the arguments of each `starpost` call in a shell line, without quotes, redirections, and pipes. */
function splitShellLine(line: string): string[][] {
  return [...line.matchAll(/(?:^|\$\()starpost ((?:'[^']*'|"(?:\\.|[^"\\])*"|[^'"|<>)])*)/g)].map(([, text = ""]) =>
    [...text.matchAll(/(?:'[^']*'|"(?:\\.|[^"\\])*"|[^\s'"])+/g)].map(([word]) =>
      word.replaceAll(
        /'([^']*)'|"((?:\\.|[^"\\])*)"/g,
        (_, single?: string, double?: string) => single ?? double ?? "",
      ),
    ),
  );
}
