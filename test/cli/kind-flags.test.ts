import { expect, test } from "vitest";
import { kindFlags } from "../../src/cli/commands/records/kind-flags.ts";
import { kinds } from "../../src/records/index.ts";
import type { ImportOptions } from "../../src/import/options.ts";
import { findUndoing } from "../../src/records/undos.ts";

const options: ImportOptions = { dryRun: true, map: {}, action: "map_review", emailType: "1" };

test.each(kindNames)("an import of %s takes no flag that could do nothing for it", (kind) => {
  const flags = Object.keys(kindFlags[kind]);
  expect(flags.includes("undoable")).toBe(findUndoing(kind, options) !== undefined);
  expect(flags.includes("fix-ids")).toBe((kinds[kind].prepare(options).legalIds ?? []).length > 0);
});
