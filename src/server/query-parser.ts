type Fields = Record<string, unknown>;

/**
 * The values of a query. `name[]` is a list also where it is there once; any name that is repeated is one.
 * Source: spec "Reviews": `sort[]=<value>`. Assumed: an empty value counts as not given.
 * @param parsed names with their value, or with their values where they are repeated
 */
export function readQuery(parsed: unknown): Fields {
  const lists = new Map<string, string[]>();
  const isList = new Set<string>();
  for (const [written, held] of Object.entries(asFields(parsed))) {
    const name = written.endsWith("[]") ? written.slice(0, -2) : written;
    const given = [held].flat().filter((value): value is string => typeof value === "string" && value !== "");
    lists.set(name, [...(lists.get(name) ?? []), ...given]);
    if (name !== written) isList.add(name);
  }
  const fields: Fields = {};
  for (const [name, values] of lists) {
    // `__proto__`, which a query can name, would not be a field but the object's kind.
    if (values.length === 0 || name === "__proto__") continue;
    fields[name] = values.length > 1 || isList.has(name) ? values : values[0];
  }
  return fields;
}

function asFields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}
