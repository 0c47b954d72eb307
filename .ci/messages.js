// Compiles the messages in src/messages/catalogs (ICU MessageFormat) to functions. All languages must have the same ones.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, TYPE } from "@formatjs/icu-messageformat-parser";

const folder = join(import.meta.dirname, "../src/messages/catalogs");

/** The messages of each language, by their keys. */
export function readCatalogs() {
  const languages = readdirSync(folder).map((name) => name.replace(/\.json$/, ""));
  return Object.fromEntries(
    languages.map((language) => [language, JSON.parse(readFileSync(join(folder, `${language}.json`), "utf8"))]),
  );
}

/**
 * Writes a module that exports the compiled messages of all languages.
 * @throws Error that lists invalid and missing messages, values, and plural forms
 */
export function compileCatalogs(catalogs) {
  const faults = [];
  const parsed = Object.entries(catalogs).map(([language, texts]) => {
    const messages = Object.entries(texts).map(([key, text]) => [
      key,
      parseMessage(text, `${language}: ${key}`, faults),
    ]);
    return { language, messages };
  });
  const english = new Map(parsed.find(({ language }) => language === "en")?.messages);
  for (const { language, messages } of parsed) {
    const own = new Map(messages);
    for (const key of english.keys()) if (!own.has(key)) faults.push(`${language}: ${key}: missing`);
    const rules = Object.fromEntries(
      ["cardinal", "ordinal"].map((type) => [
        type,
        new Intl.PluralRules(language, { type }).resolvedOptions().pluralCategories,
      ]),
    );
    for (const [key, elements] of own) {
      const at = `${language}: ${key}`;
      if (!english.has(key)) faults.push(`${at}: not in en.json`);
      else if (valuesOf(elements) !== valuesOf(english.get(key))) faults.push(`${at}: other values than in en.json`);
      for (const { options, pluralType } of listElements(elements).filter(({ type }) => type === TYPE.plural)) {
        for (const form of rules[pluralType]) if (!(form in options)) faults.push(`${at}: plural form ${form} missing`);
      }
    }
  }
  if (faults.length > 0) throw new Error(`messages:\n${faults.join("\n")}`);
  const write = ({ language, messages }) =>
    `${JSON.stringify(language)}: () => ({\n${messages.map(([key, elements]) => `${JSON.stringify(key)}: (v, f) => ${compile(elements)},\n`).join("")}}),\n`;
  return `export const catalogs = {\n${parsed.map(write).join("")}};\n`;
}

function parseMessage(text, at, faults) {
  try {
    return parse(text, { captureLocation: false, ignoreTag: true, shouldParseSkeletons: true });
  } catch (error) {
    faults.push(`${at}: ${error.message}`);
    return [];
  }
}

/** All elements of a message, including those in its forms. */
function listElements(elements) {
  return elements.flatMap((element) => [
    element,
    ...Object.values(element.options ?? {}).flatMap(({ value }) => listElements(value)),
  ]);
}

function valuesOf(elements) {
  const names = listElements(elements)
    .filter(({ type }) => type !== TYPE.literal && type !== TYPE.pound)
    .map(({ value }) => value);
  return [...new Set(names)].toSorted((a, b) => (a < b ? -1 : 1)).join();
}

function compile(elements) {
  return elements.map(compileElement).join(" + ") || '""';
}

/** Writes a call of `MessageFormatter`. */
function compileElement({ type, value, style, options, offset, pluralType }) {
  const text = JSON.stringify(value);
  const given = `v, ${text}`;
  const write = (parameter) =>
    `{ ${Object.entries(options)
      .map(([name, form]) => `${JSON.stringify(name)}: ${parameter} => ${compile(form.value)}`)
      .join()} }`;
  if (type === TYPE.literal) return `f.text(${text})`;
  if (type === TYPE.argument) return `f.value(${given})`;
  if (type === TYPE.number)
    return `f.number(${given}, ${JSON.stringify(style?.parsedOptions ?? numberStyles[style] ?? {})})`;
  if (type === TYPE.date || type === TYPE.time) {
    const named = { [`${type === TYPE.date ? "date" : "time"}Style`]: style ?? "medium" };
    return `f.date(${given}, ${JSON.stringify(style?.parsedOptions ?? named)})`;
  }
  if (type === TYPE.select) return `f.select(${given}, ${write("()")})`;
  if (type === TYPE.plural) return `f.plural(${given}, ${write("(n)")}, ${offset}, ${JSON.stringify(pluralType)})`;
  if (type === TYPE.pound) return `f.number({ n }, "n", {})`;
  throw new Error(`unknown element of type ${type}`);
}

const numberStyles = { percent: { style: "percent" }, integer: { maximumFractionDigits: 0 } };
