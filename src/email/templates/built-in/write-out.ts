import type { Language } from "../../../contract/index.ts";
import { escapeText } from "../../../pages/markup.ts";
import { type MessageKey, openMessages } from "../../../messages/messages.ts";
import type { EmailTemplate } from "../../outgoing-email.ts";

/** Stands for a value in a message. Only its place is known, so that it cannot be formatted. */
class Placeholder {
  readonly variable: string;

  constructor(variable: string) {
    this.variable = variable;
  }

  [Symbol.toPrimitive](): never {
    throw new Error("the value is not known");
  }
}

const insert = (value: unknown) => `{{ ${(value as Placeholder).variable} }}`;
const outputs = {
  text: { text: (text: string) => text, value: insert },
  html: { text: escapeText, value: (value: unknown) => `<bdi>${insert(value)}</bdi>` },
};

const messageInOutput = /\{\{ "([\w.]+)" \| t(?:: ([^{}]*))? \}\}/g;
const messageInButton = /\{% assign (\w+) = "([\w.]+)" \| t %\}/g;

/** Replaces the messages of a built-in template by their texts, which people can edit. Those that format values stay. */
export function writeOutMessages({ subject, text, html }: EmailTemplate, language: Language): EmailTemplate {
  const writeOut = (template: string, output: typeof outputs.text) => {
    const format = openMessages(language, output);
    return template
      .replaceAll(messageInOutput, (whole, key: MessageKey, values = "") => {
        const pairs = (values as string).split(", ").map((pair) => pair.split(": "));
        try {
          return format(
            key,
            Object.fromEntries(pairs.map(([name, variable = ""]) => [name, new Placeholder(variable)])),
          );
        } catch {
          return whole;
        }
      })
      .replaceAll(messageInButton, (whole, name: string, key: MessageKey) => {
        const label = openMessages(language, outputs.text)(key);
        return label.includes('"') ? whole : `{% assign ${name} = "${label}" %}`;
      });
  };
  return {
    subject: writeOut(subject, outputs.text),
    text: writeOut(text, outputs.text),
    html: writeOut(html, outputs.html),
  };
}
