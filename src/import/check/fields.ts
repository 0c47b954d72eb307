import { codeOfIssue, isLegalId, maxLength, normalizeSpec, specNames, ServiceError } from "../../contract/index.ts";
import type * as z from "zod";
import { fixId } from "./valid-id.ts";
import { describeDoubt, readPrice } from "./price.ts";
import type { ReportDropped, RowError, RowView } from "../item.ts";

/** Converts the contract's issues with a value to row errors, naming fields as columns do. */
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

/** The last part of a wire path: for `specs.upc`, `upc`. */
export function lastOf(path: readonly PropertyKey[]): string {
  return String(path.at(-1) ?? "");
}

/**
 * Converts a price to the service's format if it is unambiguous. An ambiguous price adds an error.
 * @returns the price, or the value if it is not a price; undefined if it is ambiguous
 */
export function settlePrice(value: string, field: string, problems: RowError[]): string | undefined {
  const read = readPrice(value);
  if (!read) return value;
  if ("price" in read) return read.price;
  problems.push({ field, code: "bad_price", reason: describeDoubt(value, read.doubtful) });
  return undefined;
}

/** Picks the spec values that the service accepts; reports those that it would drop. */
export function pickSpecs(row: RowView, reportDropped: ReportDropped): Record<string, string> | undefined {
  let picked: Record<string, string> | undefined;
  for (const name of specNames) {
    const raw = row(name);
    if (raw === "") continue;
    const normalized = normalizeSpec(raw);
    if ("value" in normalized) {
      picked ??= {};
      picked[name] = normalized.value;
    } else if (normalized.ignored === "characters") {
      const more = fixId(name, raw) === undefined ? "" : ", or pass --fix-ids";
      reportDropped(name, `the service stores no ${name} with spaces or special characters${more}`);
    } else if (normalized.ignored === "length") {
      reportDropped(name, "a spec value has at most 255 characters");
    }
  }
  return picked;
}

/** Reads a row's product ID and adds an error if it is invalid: the service would silently drop it. */
export function readProductId(row: RowView, problems: RowError[]): string {
  const field = "product_id";
  const id = row(field);
  if (id === "") problems.push({ field, code: "missing", reason: "is missing" });
  else if (id.length > maxLength.id) {
    problems.push({ field, code: "too_long", reason: `is longer than ${maxLength.id} characters` });
  } else if (!isLegalId(id)) {
    const reason = `has the invalid ID '${id.slice(0, 60)}': use letters, digits, _ and -, or pass --fix-ids`;
    problems.push({ field, code: "bad_id", reason });
  }
  return id;
}

/** The error for a response that reports a problem with something that the call did not contain. */
export function unknownElement(name: string): ServiceError {
  return new ServiceError("unexpectedAnswer", `the service reported an error for ${name}, which was not sent`);
}
