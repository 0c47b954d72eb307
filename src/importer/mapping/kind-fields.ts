import { kinds } from "../kinds/index.ts";
import type { FieldSpec } from "../kinds/kind.ts";
import { normaliseName } from "../layouts/list.ts";
import type { KindName } from "../types.ts";

/** The fields of a kind, whatever is asked of its import. */
export function fieldsOfKind(kind: KindName): readonly FieldSpec[] {
  return kinds[kind].prepare({ dryRun: true, map: {}, action: "map_review" }).fields;
}

/** Whether two names stand for one field or one column. */
export function isSameName(one: string, other: string): boolean {
  return normaliseName(one) === normaliseName(other);
}
