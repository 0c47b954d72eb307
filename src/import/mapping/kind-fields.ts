import { kinds } from "../../records/index.ts";
import type { FieldSpec } from "../kind.ts";
import { normaliseName } from "../../records/layouts.ts";
import type { KindName } from "../types.ts";

/** The fields of a kind, whatever is asked of its import. */
export function fieldsOfKind(kind: KindName): readonly FieldSpec[] {
  return kinds[kind].prepare({ dryRun: true, map: {}, action: "map_review" }).fields;
}

/** Whether two names stand for one field or one column. */
export function isSameName(one: string, other: string): boolean {
  return normaliseName(one) === normaliseName(other);
}
