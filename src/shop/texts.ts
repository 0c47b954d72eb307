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
    for (; at < text.length && text[at] !== "}"; at += 1) {
      const character = text[at] ?? "";
      if (character === "{") written += readValue();
      else if (character === "#" && count !== undefined) written += formatNumber(count);
      else written += character;
    }
    return written;
  };
  /** Reads up to the closing brace. */
  const readValue = (): string => {
    const [, name = "", type] = read(/\{\s*(\w+)\s*(?:,\s*(\w+)\s*,?)?/y) ?? [];
    const value = values[name] ?? "";
    if (type !== "plural") {
      readForm();
      return typeof value === "number" ? formatNumber(value) : value;
    }
    const forms: Record<string, string> = {};
    for (let form = read(/\s*([=\w]+)\s*\{/y); form; form = read(/\s*([=\w]+)\s*\{/y)) {
      forms[form[1] ?? ""] = readForm(Number(value));
      at += 1;
    }
    read(/\s*/y);
    return forms[`=${value}`] ?? forms[new Intl.PluralRules(language).select(Number(value))] ?? forms["other"] ?? "";
  };
  return readForm();
}
