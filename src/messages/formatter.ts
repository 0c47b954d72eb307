/** Writes the parts of a message, for example as HTML. */
export interface MessageOutput {
  /** Writes text of the message. */
  readonly text: (text: string) => string;
  /** Writes a value. */
  readonly value: (value: unknown) => string;
}

type Values = Readonly<Record<string, unknown>>;

/** What compiled messages call. Formats the values of a message in a language. */
export class MessageFormatter {
  readonly #language: string;
  readonly #output: MessageOutput;
  readonly #formats = new Map<string, Intl.NumberFormat | Intl.DateTimeFormat | Intl.PluralRules>();

  constructor(language: string, output: MessageOutput) {
    this.#language = language;
    this.#output = output;
  }

  text(text: string): string {
    return this.#output.text(text);
  }

  value(values: Values, name: string): string {
    return this.#output.value(get(values, name));
  }

  number(values: Values, name: string, options: Intl.NumberFormatOptions): string {
    const format = this.#open("number", options, () => new Intl.NumberFormat(this.#language, options));
    return this.text(format.format(Number(get(values, name))));
  }

  /** Formats a timestamp (in milliseconds, or ISO 8601) in UTC. */
  date(values: Values, name: string, options: Intl.DateTimeFormatOptions): string {
    const inUtc = { timeZone: "UTC", ...options };
    const format = this.#open("date", options, () => new Intl.DateTimeFormat(this.#language, inUtc));
    return this.text(format.format(new Date(get(values, name) as string | number)));
  }

  select(values: Values, name: string, forms: Readonly<Record<string, () => string>>): string {
    const value = String(get(values, name));
    return (Object.hasOwn(forms, value) ? forms[value] : forms["other"])?.() ?? "";
  }

  plural(
    values: Values,
    name: string,
    forms: Readonly<Record<string, (rest: number) => string>>,
    offset: number,
    type: Intl.PluralRuleType,
  ): string {
    const count = Number(get(values, name));
    const rules = this.#open("plural", { type }, () => new Intl.PluralRules(this.#language, { type }));
    const form = forms[`=${count}`] ?? forms[rules.select(count - offset)] ?? forms["other"];
    return form?.(count - offset) ?? "";
  }

  /** Formats are expensive to create. */
  #open<F extends Intl.NumberFormat | Intl.DateTimeFormat | Intl.PluralRules>(
    kind: string,
    options: object,
    create: () => F,
  ): F {
    const key = `${kind}${JSON.stringify(options)}`;
    const known = this.#formats.get(key) as F | undefined;
    const format = known ?? create();
    if (!known) this.#formats.set(key, format);
    return format;
  }
}

function get(values: Values, name: string): unknown {
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  if (value === undefined) throw new Error(`value ${name} of the message is missing`);
  return value;
}
