/** Lists the differences between a value and the expected form; empty if it matches. */
export type Check = (value: unknown, path: string) => readonly string[];

/**
 * The expected form of a value: an object with exactly these fields, a list with exactly these elements, a check, or
 * an equal primitive value.
 */
export type Shape = Check | string | number | boolean | null | readonly Shape[] | { readonly [name: string]: Shape };

/**
 * Lists the differences of a body from its shape: missing fields, unexpected fields, and values of another type. Use
 * `optional` for a field that may be missing.
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
  return shape.flatMap((element, index) => differences(value[index], element, `${path}[${index}]`));
}

function differInFields(value: unknown, shape: { readonly [name: string]: Shape }, path: string): readonly string[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return [`${path} is ${show(value)} and not an object`];
  }
  const fields = value as Readonly<Record<string, unknown>>;
  const unexpected = Object.keys(fields).filter((name) => !Object.hasOwn(shape, name));
  return [
    ...unexpected.map((name) => `${path}.${name} is unexpected`),
    ...Object.entries(shape).flatMap(([name, field]) => differInField(fields, name, field, path)),
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

function check(kind: string, isValid: (value: unknown) => boolean): Check {
  return (value, path) => (isValid(value) ? [] : [`${path} is ${show(value)} and not ${kind}`]);
}

const optionals = new WeakSet<Check>();

/** A field that may be missing. */
export function optional(shape: Shape): Check {
  const optionalCheck: Check = (value, path) => differences(value, shape, path);
  optionals.add(optionalCheck);
  return optionalCheck;
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
      ? value.flatMap((element, index) => differences(element, shape, `${path}[${index}]`))
      : [`${path} is ${show(value)} and not a list`];

export const int = check("an integer", Number.isSafeInteger);
export const number = check("a number", Number.isFinite);
export const boolean = check("a boolean", (value) => typeof value === "boolean");
export const text = check("a string", (value) => typeof value === "string");
export const someText = check("a non-empty string", (value) => typeof value === "string" && value !== "");
export const url = check("a URL", (value) => typeof value === "string" && /^https?:\/\/[^\s/]/.test(value));
export const object = check("an object", (value) => typeof value === "object" && value !== null);
export const timestamp = check(
  "an ISO 8601 timestamp in UTC",
  (value) => typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z$/.test(value),
);
