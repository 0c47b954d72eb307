import type { ItemError } from "../item.ts";
import type { SendResult } from "../outcome.ts";

/** What a service reports about one item of a call with `details`. */
interface ReportedOutcome {
  readonly outcome: "created" | "changed" | "unchanged" | "dropped";
  readonly fields?: readonly string[] | undefined;
  readonly dropped?: readonly DroppedValue[] | undefined;
}

/** Something of an item that was not stored, and why. */
export interface DroppedValue {
  readonly field: string;
  readonly error: string;
}

interface Reported {
  readonly outcomes?: readonly (ReportedOutcome | undefined)[] | undefined;
  readonly errors: readonly ItemError[];
}

/**
 * Reads the outcomes of a call. An item that the service dropped is rejected, also if it is not among the errors.
 * @param outcomes one for each item, in order; undefined if the service does not report them
 * @param errors what the service reported as errors
 * @param locate converts a dropped value to an error of its item
 */
export function readOutcomes(
  { outcomes, errors }: Reported,
  locate: (item: number, dropped: DroppedValue) => ItemError,
): SendResult {
  if (!outcomes) return { errors };
  const rejected = new Set(errors.map(({ item }) => item));
  const added: ItemError[] = [];
  const dropped: ItemError[] = [];
  const read = outcomes.map((reported, item) => {
    if (!reported || rejected.has(item)) return undefined;
    const { outcome, fields, dropped: values = [] } = reported;
    const located = values.map((value) => locate(item, value));
    if (outcome !== "dropped") {
      dropped.push(...located);
      return { outcome, fields };
    }
    const [first = { item, field: "", code: "refused", reason: "was not stored by the service" }] = located;
    added.push(first);
    return undefined;
  });
  return { errors: [...errors, ...added], outcomes: read, dropped };
}
