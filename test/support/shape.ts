/** Says what differs, a line each; nothing where the value is as it should be. */
export type Check = (value: unknown, path: string) => readonly string[];

/**
 * What a body looks like: an object with exactly these fields, a list of exactly these elements, a check, or a value
 * that is the same.
 */
export type Shape =
  | Check
  | string
  | number
  | boolean
  | null
  | readonly Shape[]
  | { readonly [name: string]: Shape };

/**
 * Lists where a body is not as its shape says: what is missing, what is more than was said, and what is of another
 * kind. A field of the shape that may be missing is written with `optional`.
 */
export function differences(value: unknown, shape: Shape, path = "body"): readonly string[] {
  if (typeof shape === "function") return shape(value, path);
  if (isList(shape)) return differInElements(value, shape, path);
  if (typeof shape === "object" && shape !== null) return differInFields(value, shape, path);
  return Object.is(value, shape) ? [] : [`${path} is ${show(value)} and not ${show(shape)}`];
}

const isList = (shape: Shape): shape is readonly Shape[] => Array.isArray(shape);

function differInElements(value: unknown, shape: readonly Shape[], path: string): readonly string[] {
  if (!Array.isArray(value)) return [`${path} is ${show(value)} and not a list`];
  if (value.length !== shape.length) return [`${path} has ${value.length} elements and not ${shape.length}`];
  return shape.flatMap((element, at) => differences(value[at], element, `${path}[${at}]`));
}

function differInFields(
  value: unknown,
  shape: { readonly [name: string]: Shape },
  path: string,
): readonly string[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return [`${path} is ${show(value)} and not an object`];
  }
  const fields = value as Readonly<Record<string, unknown>>;
  const more = Object.keys(fields).filter((name) => !Object.hasOwn(shape, name));
  return [
    ...more.map((name) => `${path}.${name} is not in the shape`),
    ...Object.entries(shape).flatMap(([name, of]) => differInField(fields, name, of, path)),
  ];
}

function differInField(
  fields: Readonly<Record<string, unknown>>,
  name: string,
  shape: Shape,
  path: string,
): readonly string[] {
  const isOptional = typeof shape === "function" && optionals.has(shape);
  if (!Object.hasOwn(fields, name)) return isOptional ? [] : [`${path}.${name} is missing`];
  return differences(fields[name], shape, `${path}.${name}`);
}

const show = (value: unknown) => JSON.stringify(value) ?? String(value);

function check(kind: string, holds: (value: unknown) => boolean): Check {
  return (value, path) => (holds(value) ? [] : [`${path} is ${show(value)} and not ${kind}`]);
}

const optionals = new WeakSet<Check>();

/** A field that may be missing. */
export function optional(shape: Shape): Check {
  const made: Check = (value, path) => differences(value, shape, path);
  optionals.add(made);
  return made;
}

export const nullable =
  (shape: Shape): Check =>
  (value, path) =>
    value === null ? [] : differences(value, shape, path);

/** A list of any length. */
export const listOf =
  (shape: Shape): Check =>
  (value, path) =>
    Array.isArray(value)
      ? value.flatMap((element, at) => differences(element, shape, `${path}[${at}]`))
      : [`${path} is ${show(value)} and not a list`];

export const int = check("an integer", Number.isSafeInteger);
export const number = check("a number", Number.isFinite);
export const boolean = check("a boolean", (value) => typeof value === "boolean");
export const text = check("a text", (value) => typeof value === "string");
export const someText = check(
  "a text that says something",
  (value) => typeof value === "string" && value !== "",
);
export const url = check("a URL", (value) => typeof value === "string" && /^https?:\/\/[^\s/]/.test(value));
export const object = check("an object", (value) => typeof value === "object" && value !== null);
export const timestamp = check(
  "an ISO 8601 timestamp in UTC",
  (value) => typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z$/.test(value),
);
