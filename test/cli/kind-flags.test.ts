import { expect, test } from "vitest";
import { type KindName, kindFlags } from "../../src/cli/commands/records/kind-flags.ts";
import { kinds } from "../support/record-kinds.ts";

test.each(Object.keys(kindFlags) as KindName[])(
  "the flags of %s import match what the kind supports",
  (name) => {
    const flags = Object.keys(kindFlags[name]);
    const kind = kinds.get(name);
    expect(flags.includes("undoable")).toBe(kind.isUndoable ?? false);
    expect(flags.includes("fix-ids")).toBe((kind.fixableFields ?? []).length > 0);
  },
);
