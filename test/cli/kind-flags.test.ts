import { expect, test } from "vitest";
import { kindFlags } from "../../src/cli/kind-flags.ts";
import { kinds } from "../../src/importer/kinds/index.ts";
import { type ImportOptions, kindNames } from "../../src/importer/types.ts";
import { findUndoing } from "../../src/importer/undo/index.ts";

const options: ImportOptions = { dryRun: true, map: {}, action: "map_review", emailType: "1" };

test.each(kindNames)("an import of %s takes no flag that could do nothing for it", (kind) => {
  const flags = Object.keys(kindFlags[kind]);
  expect(flags.includes("undoable")).toBe(findUndoing(kind, options) !== undefined);
  expect(flags.includes("fix-ids")).toBe((kinds[kind].prepare(options).legalIds ?? []).length > 0);
});
