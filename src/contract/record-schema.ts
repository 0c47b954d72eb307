import * as z from "zod";
import type { RecordField, RecordFields } from "./record-fields.ts";
import { isSurely, shape } from "./shapes.ts";

type ShapeOf<F extends RecordField> = (typeof shape)[F["type"]];

type SchemasOf<F extends RecordFields> = {
  [N in keyof F]: F[N] extends { readonly isRequired: true }
    ? ShapeOf<F[N]>
    : z.ZodOptional<z.ZodNullable<ShapeOf<F[N]>>>;
};

/**
 * The schemas of a record's fields.
 * @param form `create` requires the required fields, `update` none; null counts as not given
 */
export function schemasOf<F extends RecordFields>(fields: F, form: "create" | "update"): SchemasOf<F> {
  const schemas = Object.entries(fields).map(([name, { type, isRequired }]) => {
    const schema: z.ZodType = shape[type];
    return [name, isRequired === true && form !== "update" ? schema : schema.nullish()];
  });
  return Object.fromEntries(schemas) as SchemasOf<F>;
}

/** Fields with the same schema. */
export function sameSchema<N extends string, S extends z.ZodType>(names: readonly N[], schema: S): { [K in N]: S } {
  return Object.fromEntries(names.map((name) => [name, schema])) as { [K in N]: S };
}

/**
 * Creates a check of whether the schemas of a part would return the values of its fields as they are, in a fraction of the
 * time. If not, the schemas must decide.
 */
export function createSureCheck(fields: RecordFields): (given: Readonly<Record<string, unknown>>) => boolean {
  const checks = Object.entries(fields).map(([name, { type, isRequired }]) => {
    return { name, isSure: isSurely[type], isRequired: isRequired === true };
  });
  return (given) => {
    for (const { name, isSure, isRequired } of checks) {
      const value = given[name];
      if (value === undefined ? isRequired : !isSure(value)) return false;
    }
    return true;
  };
}
