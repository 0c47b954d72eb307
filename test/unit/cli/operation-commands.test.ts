import { describe, expect, it } from "vitest";
import { commands, loadCommands, nouns } from "../../../src/cli/program/commands.ts";
import { commandNameOf } from "../../../src/cli/commands/operations/names.ts";
import { operations } from "../../../src/contract/index.ts";

const all = await loadCommands(
  commands,
  Object.keys(commands).map((name) => name.split(" ")[0] ?? ""),
);

describe("the commands of the calls", () => {
  it("are there for every call, each with its flags in words and an example", () => {
    for (const operation of operations.keys()) {
      const found = all.find(({ name }) => name === commandNameOf(operation));
      expect(found, operation).toHaveProperty("run");
    }
  });

  it("have nouns that say what they are for", () => {
    const used = new Set(Object.keys(commands).map((name) => name.split(" ")[0] ?? ""));
    expect([...used].filter((noun) => !Object.hasOwn(nouns, noun))).toEqual([]);
  });

  it("are named by the words of the call", () => {
    expect(["products.massCreate", "emailRules.list"].map(commandNameOf)).toEqual([
      "products mass-create",
      "email-rules list",
    ]);
  });
});
