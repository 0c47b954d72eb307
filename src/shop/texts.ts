/** Messages in ICU MessageFormat, by their keys. */
export type Texts = Readonly<Record<string, string>>;

export type Values = Readonly<Record<string, string | number>>;

/** Formats a message of a language: its values, numbers, and plurals, which is all that the messages of elements contain. */
export function formatText(text: string, values: Values, language: string): string {
  const formatNumber = (value: number) => value.toLocaleString(language);
  let at = 0;
  const read = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at = pattern.lastIndex;
    return found;
  };
  const readForm = (count?: number): string => {
    let written = "";
    while (at < text.length && text[at] !== "}") {
      if (text[at] === "{") written += readValue();
      // Quotes enclose syntax; two are one.
      const [token, quoted] = read(/'([{}#][^']*)'|''|[^{}]/y) ?? [""];
      written += quoted ?? (token === "''" ? "'" : token === "#" && count !== undefined ? formatNumber(count) : token);
    }
    return written;
  };
  const readValue = (): string => {
    const [, name = "", type] = read(/\{\s*(\w*)\s*(?:,\s*(\w+)\s*,?)?/y) ?? [];
    const value = values[name] ?? "";
    if (type !== "plural") {
      readForm();
      at += 1;
      return typeof value === "number" ? formatNumber(value) : value;
    }
    const forms: Record<string, string> = {};
    for (let form = read(/\s*([=\w]+)\s*\{/y); form; form = read(/\s*([=\w]+)\s*\{/y)) {
      forms[form[1] ?? ""] = readForm(Number(value));
      at += 1;
    }
    readForm();
    at += 1;
    return forms[`=${value}`] ?? forms[new Intl.PluralRules(language).select(Number(value))] ?? forms["other"] ?? "";
  };
  return readForm();
}
