import { queueStates } from "../../../../contract/reviews/queue-states.ts";
import { silent, table, type View } from "../../../../terminal/view.ts";
import { command } from "../../../program/command.ts";
import { exitStatus } from "../../../program/exit-status.ts";
import { oneOf, readWholeNumber } from "../../../program/flag-values.ts";
import type { ModerationResult } from "./decisions.ts";

export default command({
  summary: "Decide on reviews that are held, one key per decision",
  examples: [
    "starpost reviews moderate",
    "starpost reviews moderate --json",
    "starpost reviews moderate --decisions decisions.ndjson --by Ann",
  ],
  flags: {
    state: { value: "<state>", description: `only this state: ${queueStates.join(", ")}`, ...oneOf(queueStates) },
    by: { value: "<text>", description: "your name, recorded with each decision" },
    decisions: {
      value: "<file>",
      description: "apply decisions from a file with one JSON object per line (- for standard input)",
      exclusive: ["state", "limit"],
    },
    limit: { value: "<n>", description: "maximum number of listed reviews (default: all)", read: readWholeNumber },
  },
  notes: [
    "At a terminal, shows one review at a time. With --json, or without a terminal, lists the queue, oldest first.",
    'A decision: {"id": 12, "decision": "publish", "reason": "…", "comment": "…", "by": "…"}. `decision` is publish, hide, requeue, or skip; the other fields after it are optional.',
    "`starpost reviews requeue` withdraws a decision. `starpost reviews history` shows all decisions on a review.",
  ],
  run: async (context, { flags }): Promise<ModerationResult> => {
    const { moderate } = await import("./moderate-run.ts");
    return moderate(context, flags);
  },
  render: renderResult,
  exitStatus: (result) => ("failed" in result && result.failed > 0 ? exitStatus.someRejected : exitStatus.done),
});

function renderResult(result: ModerationResult): View {
  if (!("failed" in result)) {
    return table(
      result.map(({ id, created_at, score, sku, title, held_because }) => {
        return { id, created_at: created_at.slice(0, 10), score, sku, title, held_because };
      }),
      ["id", "created_at", "score", "sku", "title", "held_because"],
    );
  }
  const { decisions: _decisions, ...counts } = result;
  return silent(counts);
}
