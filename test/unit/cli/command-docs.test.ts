import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { commands } from "../../../src/cli/program/commands.ts";
import { globalFlags } from "../../../src/cli/program/global-flags.ts";
import { topics } from "../../../src/cli/program/help/topics/index.ts";
import { nounOf, writeIndex, writeNounPage } from "../../support/command-docs.ts";

const folder = join(import.meta.dirname, "../../../docs/reference/commands");
const all = await Promise.all(Object.values(commands).map((load) => load()));
const nounsMet = [...new Set(all.map(nounOf))];
const stale = "docs/reference/commands is not current; renew it: npm run docs";

describe("the pages of the commands", () => {
  it.each(nounsMet)("are what the program makes of them: %s", async (noun) => {
    await expect(writeNounPage(noun, all), stale).toMatchFileSnapshot(join(folder, `${noun}.md`));
  });

  it("have an index, with what holds for all of them", async () => {
    const loaded = await Promise.all(Object.values(topics).map((topic) => topic.load()));
    await expect(writeIndex(all, loaded), stale).toMatchFileSnapshot(join(folder, "README.md"));
  });

  it("are there for no noun that is not", () => {
    const pages = readdirSync(folder).map((name) => name.replace(/\.md$/, ""));
    expect(pages.toSorted()).toEqual([...nounsMet, "README"].toSorted());
  });

  it("name every command, with every flag and every argument", () => {
    const missing = all.flatMap((command) => {
      const parts = writeNounPage(nounOf(command), all).split("\n## starpost ");
      const part = parts.find((found) => found.startsWith(`${command.name}\n`)) ?? "";
      const wanted = [
        command.summary.slice(0, 20),
        ...Object.keys(command.flags ?? {}).map((flag) => `| \`--${flag}`),
        ...(command.argument?.split(" ") ?? []).map((name) => `| \`${name}\` |`),
      ];
      return wanted.filter((text) => !part.includes(text)).map((text) => `${command.name}: ${text}`);
    });
    expect(missing).toEqual([]);
    const index = writeIndex(all, []);
    for (const [flag] of globalFlags) expect(index).toContain(`| \`${flag}\` |`);
  });
});
