import {
  codeOfIssue,
  isLegalId,
  maxLength,
  normaliseSpec,
  specNames,
  ServiceError,
} from "../../contract/index.ts";
import type * as z from "zod";
import { fixId } from "./valid-id.ts";
import { describeDoubt, readPrice } from "./price.ts";
import type { ReportDropped, RowError, RowView } from "../item.ts";

/** Turns the contract's issues with a value into a row's problems, with the fields named as columns are. */
export function describeIssues(
  issues: readonly z.core.$ZodIssue[],
  fieldOf: (path: readonly PropertyKey[]) => string,
): RowError[] {
  return issues.map((issue) => ({
    field: fieldOf(issue.path),
    code: codeOfIssue(issue),
    reason: issue.message,
  }));
}

/** The last named part of a wire path: `specs.upc` is `upc`. */
export function lastOf(path: readonly PropertyKey[]): string {
  return String(path.at(-1) ?? "");
}

/** Leaves empty cells out: an empty cell says nothing, and never erases. */
export function pick(row: RowView, names: Readonly<Record<string, string>>): Record<string, unknown> {
  const picked: Record<string, unknown> = {};
  for (const wireName in names) {
    const value = row(names[wireName] as string);
    if (value !== "") picked[wireName] = value;
  }
  return picked;
}

/**
 * Writes a picked price as the service takes it, where it can be read for certain. One that may be read in two ways is
 * a problem, and taken out.
 */
export function settlePrice(picked: Record<string, unknown>, field: string, problems: RowError[]): void {
  const value = picked["price"];
  const read = typeof value === "string" ? readPrice(value) : undefined;
  if (!read) return;
  if ("price" in read) {
    picked["price"] = read.price;
    return;
  }
  delete picked["price"];
  problems.push({ field, code: "bad_price", reason: describeDoubt(String(value), read.doubtful) });
}

/** The spec values that the service would take; one that it would drop is left out, and said. */
export function pickSpecs(row: RowView, leaveOut: ReportDropped): Record<string, string> | undefined {
  let picked: Record<string, string> | undefined;
  for (const name of specNames) {
    const raw = row(name);
    if (raw === "") continue;
    const normalised = normaliseSpec(raw);
    if ("value" in normalised) {
      picked ??= {};
      picked[name] = normalised.value;
    } else if (normalised.ignored === "characters") {
      const more = fixId(name, raw) === undefined ? "" : "; --fix-ids puts it right";
      leaveOut(name, `a spec value holds only letters, digits, _ and -${more}`);
    } else if (normalised.ignored === "length") {
      leaveOut(name, "a spec value is at most 255 characters");
    }
  }
  return picked;
}

/** A row's product id, where the service would take it; it would drop another without a word. */
export function readProductId(row: RowView, problems: RowError[]): string {
  const field = "product_id";
  const id = row(field);
  if (id === "") problems.push({ field, code: "missing", reason: "is missing" });
  else if (id.length > maxLength.id) {
    problems.push({ field, code: "too_long", reason: `is longer than ${maxLength.id} characters` });
  } else if (!isLegalId(id)) {
    const why = id === "__proto__" ? "is no id" : "has characters other than letters, digits, _ and -";
    const reason = `'${id.slice(0, 60)}' ${why}; the service would ignore it; --fix-ids would send '${fixId(field, id)}'`;
    problems.push({ field, code: "bad_id", reason });
  }
  return id;
}

/** The service reports a problem with something that the call did not hold. */
export function unknownElement(name: string): ServiceError {
  return new ServiceError(
    "unexpectedAnswer",
    `the service reports a problem with ${name}, which was not sent`,
  );
}
