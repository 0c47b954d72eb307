import type * as z from "zod";
import type { FieldError } from "../../contract/index.ts";

interface Parsed<T> {
  /** Absent if the object is rejected. */
  readonly value?: T;
  readonly errors: readonly FieldError[];
}

/** Parses an object without its invalid fields, unless one of them cannot be dropped. Reports all errors. */
export function parseLeniently<T>(
  schema: z.ZodType<T>,
  raw: unknown,
  canDrop: (field: PropertyKey) => boolean,
): Parsed<T> {
  const parsed = schema.safeParse(raw);
  if (parsed.success) return { value: parsed.data, errors: [] };
  const { issues } = parsed.error;
  const errors = issues.map(({ path, message }) => ({
    field: path.join("."),
    error: path.length === 0 ? "must be an object" : message,
  }));
  const isRejected = issues.some(({ path: [field] }) => field === undefined || !canDrop(field));
  if (isRejected) return { errors };
  const paths = issues.map(({ path }) => path);
  return { value: schema.parse(without(raw as object, paths)), errors };
}

/** Copies an object without the fields at `paths`. Of an inner object, only the invalid fields are dropped. */
function without(object: object, paths: readonly (readonly PropertyKey[])[]): object {
  const copy: Record<PropertyKey, unknown> = { ...object };
  for (const [field = "", inner] of paths) {
    const value = copy[field];
    if (inner === undefined || typeof value !== "object" || Array.isArray(value)) {
      delete copy[field];
    } else {
      const fields: Record<PropertyKey, unknown> = { ...value };
      delete fields[inner];
      copy[field] = fields;
    }
  }
  return copy;
}
