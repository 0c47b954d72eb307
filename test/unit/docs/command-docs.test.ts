import { describe, expect, it } from "vitest";
import { commands } from "../../../src/cli/program/commands.ts";
import { globalFlags } from "../../../src/cli/program/global-flags.ts";
import { nounOf, writeIndex, writeNounPage } from "../../../.ci/generate/command-docs.ts";

const all = await Promise.all(Object.values(commands).map((load) => load()));

describe("command pages", () => {
  it("list every command with all its flags and arguments", () => {
    const missing = all.flatMap((command) => {
      const parts = writeNounPage(nounOf(command), all).split("\n## starpost ");
      const part = parts.find((found) => found.startsWith(`${command.name}\n`)) ?? "";
      const wanted = [
        command.summary.slice(0, 20),
        ...Object.keys(command.flags ?? {}).map((flag) => `--${flag}`),
        ...(command.argument?.split(" ") ?? []).map((name) => `| \`${name}\` |`),
      ];
      return wanted.filter((text) => !part.includes(text)).map((text) => `${command.name}: ${text}`);
    });
    expect(missing).toEqual([]);
    const index = writeIndex(all, []);
    for (const flag of Object.keys(globalFlags)) expect(index).toMatch(new RegExp(`\\| \`(?:-\\w, )?--${flag}[ \`]`));
  });
});
