import { type Brand, defaultBrand, type ErrorKind, type Language, type OwnMessages } from "../contract/index.ts";
import type { MessageOutput } from "../messages/formatter.ts";
import {
  type FormatMessage,
  type MessageKey,
  type MessageValues,
  openMessages,
  findWrittenLanguage,
} from "../messages/messages.ts";
import { isolate } from "./bidi.ts";
import { escapeText, type Html, markup, type Part, render, trusted } from "./markup.ts";

/** A call of a form that was refused although the form is valid. */
export interface Refusal {
  readonly kind: ErrorKind;
  /** How long to wait before the next try, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** What was typed into the form, by field. */
  readonly typed: Readonly<Record<string, string>>;
}

/** The design of a page, and its texts in the language of its reader. */
export interface PageContext {
  readonly brand: Brand;
  readonly language: Language;
  /** Formats a message as HTML. Texts among its values are escaped, and their direction is isolated. */
  readonly t: (key: MessageKey, values?: MessageValues) => Html;
  /** Formats a message as text, for titles and attributes. */
  readonly text: FormatMessage;
  /** Set if the form of the page is shown again. */
  readonly refusal?: Refusal | undefined;
}

const htmlOutput: MessageOutput = {
  text: escapeText,
  value: (value) => render(typeof value === "string" ? isolate(value) : markup`${value as Part}`),
};

const textOutput: MessageOutput = { text: (text) => text, value: String };

function openTexts(language: Language, own?: OwnMessages): Pick<PageContext, "t" | "text"> {
  const format = openMessages(language, htmlOutput, own);
  return { t: (key, values) => trusted(format(key, values)), text: openMessages(language, textOutput, own) };
}

const opened = new Map<Language, ReturnType<typeof openTexts>>();

export function createPageContext(brand: Brand, language: Language): PageContext {
  return { brand, language: findWrittenLanguage(language), ...findTexts(language, brand.messages) };
}

function findTexts(language: Language, own: OwnMessages | undefined): ReturnType<typeof openTexts> {
  if (own?.[language]) return openTexts(language, own);
  const texts = opened.get(language) ?? openTexts(language);
  opened.set(language, texts);
  return texts;
}

/** The built-in design, in English. */
export const defaultContext: PageContext = createPageContext(defaultBrand, "en");
