import type { Language } from "../contract/brand/brand.ts";
import { type Catalog, catalogs, type MessageKey, type MessageValues } from "./catalogs.ts";
import { MessageFormatter, type MessageOutput } from "./formatter.ts";

export type { MessageKey, MessageValues };

/** Formats a message in a language. @throws Error if there is no such message, or a value is missing */
export type FormatMessage = (key: MessageKey, values?: MessageValues) => string;

/** Languages that are written from right to left. */
const rightToLeft: ReadonlySet<string> = new Set<Language>(["ar", "he"]);

export function directionOf(language: Language): "ltr" | "rtl" {
  return rightToLeft.has(language) ? "rtl" : "ltr";
}

/** Finds the language in which texts are written: English if there is no catalog. */
export function findWrittenLanguage(language: Language): Language {
  return catalogs[language] ? language : "en";
}

const opened = new Map<Language, Catalog | undefined>();

function openCatalog(language: Language): Catalog | undefined {
  const catalog = opened.get(language) ?? catalogs[language]?.();
  opened.set(language, catalog);
  return catalog;
}

/** Opens the messages of a language, or the English ones if it has no catalog. */
export function openMessages(language: Language, output: MessageOutput): FormatMessage {
  const written = findWrittenLanguage(language);
  const catalog = openCatalog(written);
  const formatter = new MessageFormatter(written, output);
  return (key, values = {}) => {
    const message = catalog && Object.hasOwn(catalog, key) ? catalog[key] : undefined;
    if (!message) throw new Error(`unknown message ${key}`);
    return message(values, formatter);
  };
}
