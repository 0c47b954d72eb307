import type { Language, OwnMessages } from "../contract/brand/brand.ts";
import { type Catalog, catalogs, type CompiledMessage, type MessageKey, type MessageValues } from "./catalogs.ts";
import { compileMessage } from "./icu.ts";
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

const compiled = new Map<string, CompiledMessage>();

/** The most compiled messages of accounts that a process remembers. */
const maxCompiled = 5_000;

function compileOwn(text: string): CompiledMessage {
  const known = compiled.get(text) ?? compileMessage(text);
  if (compiled.size >= maxCompiled) compiled.clear();
  compiled.set(text, known);
  return known;
}

/** Opens the messages of a language, or the English ones if it has no catalog. Those of the account replace them. */
export function openMessages(language: Language, output: MessageOutput, own: OwnMessages = {}): FormatMessage {
  const written = findWrittenLanguage(language);
  const catalog = openCatalog(written);
  const replaced = own[written] ?? {};
  const formatter = new MessageFormatter(written, output);
  return (key, values = {}) => {
    const message = catalog && Object.hasOwn(catalog, key) ? catalog[key] : undefined;
    if (!message) throw new Error(`unknown message ${key}`);
    const text = Object.hasOwn(replaced, key) ? replaced[key] : undefined;
    try {
      if (text !== undefined) return compileOwn(text)(values, formatter);
    } catch {
      // It was saved when the built-in message had other values.
    }
    return message(values, formatter);
  };
}
