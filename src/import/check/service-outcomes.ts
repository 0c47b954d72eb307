import type { FieldError, ItemOutcome } from "../../contract/index.ts";
import type { ItemError } from "../item.ts";
import type { SendResult } from "../outcome.ts";
import { readServiceProblem } from "./service-errors.ts";

/**
 * Reads the outcomes of a call. An item that the service dropped is rejected, also if it is not among the errors.
 * @param outcomes one for each item, in order; undefined if the service does not report them
 * @param errors what the service reported as errors
 * @param locate converts a value that was not stored to an error of its item; by default, its field is the column
 */
export function readOutcomes(
  {
    outcomes,
    errors,
  }: Pick<SendResult, "errors"> & { readonly outcomes?: readonly (ItemOutcome | undefined)[] | undefined },
  locate = (item: number, { field, error }: FieldError): ItemError => ({ item, ...readServiceProblem(field, error) }),
): SendResult {
  if (!outcomes) return { errors };
  const rejected = new Set(errors.map(({ item }) => item));
  const added: ItemError[] = [];
  const dropped: ItemError[] = [];
  const read = outcomes.map((reported, item) => {
    if (!reported || rejected.has(item)) return undefined;
    const { outcome, fields, dropped: values } = reported;
    if (outcome !== "dropped" && !values) return { outcome, fields };
    const located = (values ?? []).map((value) => locate(item, value));
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
