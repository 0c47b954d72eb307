import { expect, test } from "vitest";
import { importFlagsOf } from "../../src/cli/commands/records/import-flags.ts";
import { commands } from "../../src/cli/program/commands.ts";
import { recordKinds } from "../../src/records/index.ts";

test.each(recordKinds)("the flags of $name import match what the kind supports", (kind) => {
  const flags = Object.keys(importFlagsOf(kind));
  expect(flags.includes("undoable")).toBe(kind.isUndoable ?? false);
  expect(flags.includes("fix-ids")).toBe((kind.fixableFields ?? []).length > 0);
  expect(flags.includes("product-url")).toBe(kind.urlField !== undefined);
  expect(flags).toEqual(expect.arrayContaining(Object.keys(kind.importCommand.flags ?? {})));
});

test.each(recordKinds)("$name has the four record commands", ({ name }) => {
  const verbs = ["import", "export", "plan", "map"].map((verb) => `${name} ${verb}`);
  expect(Object.keys(commands)).toEqual(expect.arrayContaining(verbs));
});
