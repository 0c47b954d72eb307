import { type MessageFormatElement, parse, TYPE } from "@formatjs/icu-messageformat-parser";
import type { CompiledMessage } from "./catalogs.ts";

/** @throws Error if the syntax is invalid */
export function parseMessage(text: string): MessageFormatElement[] {
  return parse(text, { captureLocation: false, ignoreTag: true, shouldParseSkeletons: true });
}

/** All elements of a message, including those in its forms. */
function listElements(elements: readonly MessageFormatElement[]): MessageFormatElement[] {
  return elements.flatMap((element) => {
    const forms = "options" in element ? Object.values(element.options) : [];
    return [element, ...forms.flatMap(({ value }) => listElements(value))];
  });
}

function valuesOf(elements: readonly MessageFormatElement[]): string {
  const names = listElements(elements).flatMap((element) =>
    element.type === TYPE.literal || element.type === TYPE.pound ? [] : [element.value],
  );
  return [...new Set(names)].toSorted((a, b) => (a < b ? -1 : 1)).join(", ");
}

/** Finds what is wrong with a message that takes the place of another one, which may be in another language. */
export function findFault(
  elements: readonly MessageFormatElement[],
  original: readonly MessageFormatElement[],
  language: string,
): string | undefined {
  const [values, expected] = [valuesOf(elements), valuesOf(original)];
  if (values !== expected) return `must have the values ${expected || "(none)"}, but has ${values || "(none)"}`;
  for (const element of listElements(elements)) {
    if (element.type !== TYPE.plural) continue;
    const { pluralCategories } = new Intl.PluralRules(language, {
      type: element.pluralType ?? "cardinal",
    }).resolvedOptions();
    const missing = pluralCategories.find((form) => !(form in element.options));
    if (missing !== undefined) return `plural form ${missing} missing`;
  }
  return undefined;
}

const numberStyles: Readonly<Record<string, Intl.NumberFormatOptions>> = {
  percent: { style: "percent" },
  integer: { maximumFractionDigits: 0 },
};

/** The options of a number, date, or time. */
export function optionsOf(element: MessageFormatElement): object {
  const style = "style" in element ? element.style : undefined;
  if (typeof style === "object" && style !== null) return style.parsedOptions;
  if (element.type === TYPE.number) return numberStyles[style ?? ""] ?? {};
  return { [element.type === TYPE.date ? "dateStyle" : "timeStyle"]: style ?? "medium" };
}

/** Compiles a message at run time, like the build does. @throws Error if the syntax is invalid */
export function compileMessage(text: string): CompiledMessage {
  return compileAll(parseMessage(text));
}

function compileAll(elements: readonly MessageFormatElement[]): CompiledMessage {
  const parts = elements.map(compileElement);
  return (values, formatter) => parts.map((part) => part(values, formatter)).join("");
}

function compileElement(element: MessageFormatElement): CompiledMessage {
  const { type } = element;
  if (type === TYPE.literal) return (_values, formatter) => formatter.text(element.value);
  if (type === TYPE.pound) return (values, formatter) => formatter.number(values, "#", {});
  if (type === TYPE.argument) return (values, formatter) => formatter.value(values, element.value);
  if (type === TYPE.tag) throw new Error("tags are not supported");
  if (type === TYPE.select || type === TYPE.plural) {
    const forms = Object.entries(element.options).map(([name, { value }]) => [name, compileAll(value)] as const);
    return (values, formatter) => {
      const write = forms.map(([name, form]) => [
        name,
        (rest?: number) => form(rest === undefined ? values : { ...values, "#": rest }, formatter),
      ]);
      const written = Object.fromEntries(write) as Record<string, (rest?: number) => string>;
      return element.type === TYPE.select
        ? formatter.select(values, element.value, written)
        : formatter.plural(values, element.value, written, element.offset, element.pluralType ?? "cardinal");
    };
  }
  const options = optionsOf(element);
  return type === TYPE.number
    ? (values, formatter) => formatter.number(values, element.value, options)
    : (values, formatter) => formatter.date(values, element.value, options);
}
