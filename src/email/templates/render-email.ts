import type { EmailCategory } from "../../contract/index.ts";
import { openRenderer, type Renderer } from "./liquid.ts";
import { asLines, asOneLine, shorten, withoutTurns } from "./rendered-email.ts";
import type { EmailTemplate, OutgoingEmail } from "../outgoing-email.ts";
import type { TemplatePart } from "./template-error.ts";

/** What a template speaks of: its category's data, the customer, the store and the way out. */
export type EmailScope = Readonly<Record<string, unknown>>;

export type TemplatedEmail = Pick<OutgoingEmail, "to" | "store" | "data" | "unsubscribeUrl">;

/** Longest subject, in characters; what follows is left out. */
const subjectLength = 250;

/** The only values that keep their lines. */
const linedNames = new Set(["content", "comment", "answer"]);

/** What stands in sentences for a store whose name nobody said: "your order at …". */
const namelessStore = "our store";

/**
 * Assumed: in what people wrote nothing but a text of several lines keeps its line ends, and an address that is no web
 * address is none; templates need not look after that.
 */
export function createScope(mail: TemplatedEmail): EmailScope {
  return clean("", {
    ...mail.data,
    customer: { name: mail.to.name, email: mail.to.address },
    store: { ...mail.store, name: mail.store.name.trim() || namelessStore },
    unsubscribe_url: mail.unsubscribeUrl,
  }) as EmailScope;
}

function clean(name: string, value: unknown): unknown {
  if (typeof value === "string") return cleanText(name, value);
  if (Array.isArray(value)) return value.map((element) => clean(name, element));
  if (typeof value !== "object" || value === null) return value ?? null;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, clean(key, inner)]));
}

function cleanText(name: string, value: string): string | null {
  if (linedNames.has(name)) return asLines(value);
  const line = asOneLine(value);
  if (!/(?:^|_)url$/.test(name)) return line;
  return /^https?:\/\/\S+$/i.test(line) ? line : null;
}

let opened: Promise<Renderer> | undefined;

/** The one renderer of a process, made when it is first asked for. */
export function getRenderer(): Promise<Renderer> {
  opened ??= openRenderer();
  return opened;
}

/**
 * Makes the texts of a mail.
 * @throws TemplateError for a template that cannot be followed
 */
export async function renderEmail(
  template: EmailTemplate,
  scope: EmailScope,
  limitMs?: number,
): Promise<EmailTemplate> {
  const { render } = await getRenderer();
  const make = (part: TemplatePart) => render(part, template[part], scope, limitMs);
  return {
    subject: asSubject(make("subject")),
    text: `${asLines(make("text")).trim()}\n`,
    html: make("html"),
  };
}

function asSubject(made: string): string {
  return shorten(withoutTurns(asOneLine(made).replaceAll(/\s+/g, " ")), subjectLength);
}

/** What the account's own template of a category, or the one that comes with starpost, makes of a mail. */
export async function renderOutgoing(
  mail: TemplatedEmail & Pick<OutgoingEmail, "category" | "template">,
): Promise<EmailTemplate> {
  const { builtInTemplates } = await import("./built-in/templates.ts");
  const template = mail.template ?? builtInTemplates[mail.category satisfies EmailCategory];
  return await renderEmail(template, createScope(mail));
}
