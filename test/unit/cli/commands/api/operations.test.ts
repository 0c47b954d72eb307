import { describe, expect, it } from "vitest";
import { apiCommandOf, findNamedOperation, operationNames } from "../../../../../src/cli/commands/api/operations.ts";
import { commands, loadCommands } from "../../../../../src/cli/program/commands.ts";
import { nouns } from "../../../../../src/cli/program/help/groups.ts";
import { UserError } from "../../../../../src/config/user-error.ts";
import { operations } from "../../../../../src/contract/index.ts";

const find = (line: string) => findNamedOperation(line.split(" "));

describe("starpost api <operation>", () => {
  it("has a command for every operation, with descriptions and examples", () => {
    expect(operationNames).toEqual([...operations.keys()]);
    for (const operation of operations.keys()) {
      const { examples = [] } = apiCommandOf(operation);
      expect(examples[0]).toMatch(`starpost api ${operation}`);
    }
  });

  it("accepts path fields as arguments and as flags", () => {
    const { argument, flags } = apiCommandOf("reviews.widget");
    expect(argument).toBe("[product_id]");
    expect(Object.keys(flags ?? {})).toContain("product-id");
  });

  it.each([
    ["api reviews.widget --sort rating", "reviews.widget"],
    ["--profile shop api --json reviews.widget", "reviews.widget"],
    ["api GET /reviews/1", undefined],
    ["api post reviews.widget", undefined],
    ["api --input file.json POST /reviews", undefined],
    ["api --list", undefined],
    ["api", undefined],
  ])("finds the operation in `%s`: %s", (line, operation) => {
    expect(find(line)).toBe(operation);
  });

  it("suggests a name for an unknown operation", () => {
    const call = () => find("api reviews.widgt --sort rating");
    expect(call).toThrow(UserError);
    expect(call).toThrow(
      expect.objectContaining({ kind: "usage", misnamed: { given: "reviews.widgt", known: operationNames } }) as Error,
    );
  });

  it("replaces the api command", async () => {
    const loaded = await loadCommands(commands, ["api", "reviews.widget"]);
    expect(loaded.filter((command) => "run" in command).map(({ name }) => name)).toEqual(["api reviews.widget"]);
  });
});

it("describes every noun and names every command after its entry", async () => {
  const used = new Set(Object.keys(commands).map((name) => name.split(" ")[0] ?? ""));
  expect([...used].filter((noun) => !Object.hasOwn(nouns, noun))).toEqual([]);
  for (const [name, load] of Object.entries(commands)) {
    const command = await load();
    expect(command.name).toBe(name);
    expect(command.examples?.length, name).toBeGreaterThan(0);
  }
});
