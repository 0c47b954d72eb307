import { expect, it } from "vitest";
import { parseDecisions } from "../../../../../src/cli/commands/reviews/moderate/decisions.ts";
import { UserError } from "../../../../../src/config/user-error.ts";

function problemOf(text: string): string {
  try {
    parseDecisions(text);
  } catch (error) {
    if (error instanceof UserError) return error.message;
    throw error;
  }
  throw new Error("expected an error");
}

it("reads one decision per line, and an array", () => {
  const first = { id: 1, decision: "publish", reason: "fine", comment: "Thank you", by: "Ann" };
  const expected = [first, { id: 2, decision: "hide" }];
  const second = '{"id": 2, "decision": "reject", "reason": null, "other": 1}';
  expect(parseDecisions(`\uFEFF${JSON.stringify(first)}\r\n\n  ${second}\n`)).toEqual(expected);
  expect(parseDecisions(` [${JSON.stringify(first)}, ${second}]`)).toEqual(expected);
  expect(["", " \n", "[]"].map(parseDecisions)).toEqual([[], [], []]);
});

it.each(["publish", "hide", "requeue", "skip"])("accepts the decision %s", (decision) => {
  expect(parseDecisions(JSON.stringify({ id: 7, decision }))).toEqual([{ id: 7, decision }]);
});

it.each([
  ['{"id": 1, "decision": "skip"}\n{"id": 0, "decision": "skip"}', "line 2", '"id"'],
  ['{"id": 1.5, "decision": "skip"}', "line 1", '"id"'],
  ['{"id": "1", "decision": "skip"}', "line 1", '"id"'],
  ['[{"decision": "skip"}]', "decision 1", '"id"'],
  ["[null]", "decision 1", '"id"'],
  ['\n{"id": 1}', "line 1", "no"],
  ['{"id": 1, "decision": "delete"}', "line 1", "unknown"],
  ['{"id": 1, "decision": "skip", "reason": 1}', "line 1", '"reason"'],
  ['{"id": 1, "decision": "skip"}\n\n{"id"', "line 3", "JSON"],
  ["[1", "the file", "JSON"],
])("names the place of an error in %j", (text, place, part) => {
  const problem = problemOf(text);
  expect(problem).toContain(place);
  expect(problem).toContain(part);
});
