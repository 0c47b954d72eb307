// Compiles the messages in src/messages/catalogs (ICU MessageFormat) to functions. All languages must have the same ones.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type MessageFormatElement, TYPE } from "@formatjs/icu-messageformat-parser";
import { findFault, optionsOf, parseMessage } from "../src/messages/icu.ts";

const folder = "src/messages/catalogs";

type Catalogs = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The messages of each language, by their keys. */
export function readCatalogs(): Catalogs {
  const languages = readdirSync(folder).map((name) => name.replace(/\.json$/, ""));
  return Object.fromEntries(
    languages.map((language) => [
      language,
      JSON.parse(readFileSync(join(folder, `${language}.json`), "utf8")) as Readonly<Record<string, string>>,
    ]),
  );
}

/**
 * Writes a module that exports the compiled messages of all languages.
 * @throws Error that lists invalid and missing messages, values, and plural forms
 */
export function compileCatalogs(catalogs: Catalogs): string {
  const faults: string[] = [];
  const parsed = Object.entries(catalogs).map(([language, texts]) => {
    const messages = Object.entries(texts).map(
      ([key, text]) => [key, parseOrReport(text, `${language}: ${key}`, faults)] as const,
    );
    return { language, messages };
  });
  const english = new Map(parsed.find(({ language }) => language === "en")?.messages);
  for (const { language, messages } of parsed) {
    const own = new Map(messages);
    for (const key of english.keys()) if (!own.has(key)) faults.push(`${language}: ${key}: missing`);
    for (const [key, elements] of own) {
      const original = english.get(key);
      const fault = original ? findFault(elements, original, language) : "not in en.json";
      if (fault !== undefined) faults.push(`${language}: ${key}: ${fault}`);
    }
  }
  if (faults.length > 0) throw new Error(`messages:\n${faults.join("\n")}`);
  const write = ({ language, messages }: (typeof parsed)[number]) =>
    `${JSON.stringify(language)}: () => ({\n${messages.map(([key, elements]) => `${JSON.stringify(key)}: (v, f) => ${compile(elements)},\n`).join("")}}),\n`;
  return `export const catalogs = {\n${parsed.map(write).join("")}};\n`;
}

function parseOrReport(text: string, at: string, faults: string[]): MessageFormatElement[] {
  try {
    return parseMessage(text);
  } catch (error) {
    faults.push(`${at}: ${(error as Error).message}`);
    return [];
  }
}

function compile(elements: readonly MessageFormatElement[]): string {
  return elements.map(compileElement).join(" + ") || '""';
}

/** Writes a call of `MessageFormatter`. */
function compileElement(element: MessageFormatElement): string {
  const { type } = element;
  if (type === TYPE.pound) return `f.number({ n }, "n", {})`;
  const text = JSON.stringify(element.value);
  const given = `v, ${text}`;
  if (type === TYPE.literal) return `f.text(${text})`;
  if (type === TYPE.argument) return `f.value(${given})`;
  if (type === TYPE.number) return `f.number(${given}, ${JSON.stringify(optionsOf(element))})`;
  if (type === TYPE.date || type === TYPE.time) return `f.date(${given}, ${JSON.stringify(optionsOf(element))})`;
  if (type === TYPE.tag) throw new Error("tags are not supported");
  const parameter = type === TYPE.select ? "()" : "(n)";
  const forms = Object.entries(element.options)
    .map(([name, form]) => `${JSON.stringify(name)}: ${parameter} => ${compile(form.value)}`)
    .join();
  if (type === TYPE.select) return `f.select(${given}, { ${forms} })`;
  return `f.plural(${given}, { ${forms} }, ${element.offset}, ${JSON.stringify(element.pluralType)})`;
}
