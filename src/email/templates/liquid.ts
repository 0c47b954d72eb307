import type { Context, FilterImplOptions, Liquid, LiquidError, Template, Token } from "liquidjs";
import type { Language, OwnMessages } from "../../contract/index.ts";
import { balanceDirectionMarks } from "../../pages/bidi.ts";
import { escapeText } from "../../pages/markup.ts";
import type { MessageOutput } from "../../messages/formatter.ts";
import { type FormatMessage, type MessageKey, openMessages } from "../../messages/messages.ts";
import { frameParts } from "./built-in/frame.ts";
import { type TemplatePart, TemplateError } from "./template-error.ts";

/**
 * Limits for rendering one part of an email, so that a template cannot block a worker.
 * Assumed: far more than an email needs; email clients clip content above about 100,000 characters.
 */
const limits = {
  templateLength: 100_000,
  /** For sending. Generous, because a machine may be busy, and rendering is not retried. */
  renderMs: 2_000,
  /** Characters and elements created by filters and ranges. */
  memory: 2_000_000,
  outputLength: 1_000_000,
} as const;

/**
 * Supported tags.
 * Assumed: tags that output values without escaping are not supported, nor is `capture`, whose HTML would be escaped.
 * `layout` and `render` find only the parts of the frame, never files.
 */
const tags = new Set(
  "assign block case comment for if unless break continue echo layout liquid raw render #".split(" "),
);

/** Supported filters. Assumed: `raw` is not supported, so that user content is always escaped. */
const filters = new Set(
  `escape newline_to_br strip_html abs at_least at_most ceil divided_by floor minus plus modulo times round url_encode
  join last first reverse sort size map sum compact concat slice where uniq date append prepend lstrip downcase upcase
  remove remove_first rstrip split strip strip_newlines squish capitalize replace replace_first truncate truncatewords
  number_of_words array_to_sentence_string default`.split(/\s+/),
);

/** Writes messages in subjects and texts. */
export const plainOutput: MessageOutput = {
  text: (text) => text,
  value: (value) => balanceDirectionMarks(asText(value)),
};

/** Writes messages in HTML, and isolates the direction of their values. */
const htmlOutput: MessageOutput = { text: escapeText, value: (value) => `<bdi>${escapeValue(value)}</bdi>` };

function escapeValue(value: unknown): string {
  return escapeText(balanceDirectionMarks(asText(value)));
}

/** A message in HTML, which is output as it is. Filters receive it as a string, which is escaped again. */
class MessageHtml {
  readonly #html: string;

  constructor(html: string) {
    this.#html = html;
  }

  toString(): string {
    return this.#html;
  }
}

/** The messages of the account in a scope. Templates cannot name a symbol. */
export const ownMessagesName: unique symbol = Symbol("own messages");

/** Creates the filter that formats a message in the language of the email: `{{ "key" | t: name: customer.name }}`. */
function createTranslator<Result>(output: MessageOutput, wrap: (text: string) => Result) {
  const opened = new Map<string, FormatMessage>();
  return function translate(this: { readonly context: Context }, key: unknown, ...values: unknown[]): Result {
    const { language, [ownMessagesName]: own } = this.context.globals as {
      readonly language: Language;
      readonly [ownMessagesName]?: OwnMessages;
    };
    const format = (own ? undefined : opened.get(language)) ?? openMessages(language, output, own);
    if (!own) opened.set(language, format);
    return wrap(format(asText(key) as MessageKey, Object.fromEntries(values as [string, unknown][])));
  };
}

/** Writes values in HTML, which are escaped unless a message was formatted as HTML. */
const writeHtml = (value: unknown) => (value instanceof MessageHtml ? String(value) : escapeValue(value));

/** Prefixes each line with ">", as in email replies. */
function quoteLines(text: string): string {
  return text
    .split("\n")
    .map((line) => `> ${line}`)
    .join("\n");
}

type FrameParts = Readonly<Record<string, string>>;

// All values are already escaped; an explicit `escape` must not escape them twice.
const ownFilters: Readonly<Record<keyof typeof frameParts, Readonly<Record<string, FilterImplOptions>>>> = {
  text: {
    t: createTranslator(plainOutput, (text) => text),
    quote: (value: unknown) => quoteLines(asText(value)),
    escape: asText,
  },
  html: {
    t: createTranslator(htmlOutput, (text) => new MessageHtml(text)),
    escape: asText,
    // Escapes its input. As the last filter, it outputs HTML; followed by another filter, its output is escaped again.
    newline_to_br: { raw: true, handler: (value: unknown) => escapeValue(value).replaceAll("\n", "<br>\n") },
  },
};

/** Renders templates. In HTML, all values are escaped. */
export interface Renderer {
  render: (part: TemplatePart, template: string, scope: object, limitMs?: number) => string;
  listVariables: (part: TemplatePart, template: string) => readonly UsedVariable[];
}

interface UsedVariable {
  /** Path such as `["customer", "name"]`. Segments that are not strings are indexes or nested paths. */
  readonly segments: readonly unknown[];
  readonly place: Place;
}

interface Place {
  readonly line: number;
  readonly column: number;
}

/** Opens a renderer that rejects unknown variables and enforces the limits. */
export async function openRenderer(): Promise<Renderer> {
  const { Liquid: Engine, Token: TokenClass } = await import("liquidjs");
  TokenClass.prototype.getPosition = findPosition;
  const createEngine = (kind: keyof typeof frameParts, parts: FrameParts) => {
    const engine = new Engine({
      outputEscape: kind === "html" ? writeHtml : plainOutput.value,
      ownPropertyOnly: true,
      strictFilters: true,
      strictVariables: true,
      timezoneOffset: 0,
      locale: "en",
      templates: parts,
      cache: true,
      parseLimit: limits.templateLength,
      renderLimit: limits.renderMs,
      memoryLimit: limits.memory,
    });
    for (const name of Object.keys(engine.tags)) if (!tags.has(name)) delete engine.tags[name];
    for (const name of Object.keys(engine.filters)) if (!filters.has(name)) delete engine.filters[name];
    for (const [name, filter] of Object.entries(ownFilters[kind])) engine.registerFilter(name, filter);
    return new Parser(engine);
  };
  const [plain, html] = [createEngine("text", frameParts.text), createEngine("html", frameParts.html)];
  const designs = new Designs((parts) => createEngine("html", parts));
  return {
    render: (part, template, scope, renderLimit = limits.renderMs) =>
      withTemplateErrors(part, () => {
        const parser = part === "html" ? (designs.find(scope) ?? html) : plain;
        const output = parser.engine.renderSync(parser.parse(part, template), scope, {
          renderLimit,
          // The parts of the frame have no other scope.
          globals: scope,
        }) as string;
        if (output.length > limits.outputLength) throw new TemplateError(part, "produces too much output");
        return output;
      }),
    listVariables: (part, template) =>
      withTemplateErrors(part, () => {
        const parser = part === "html" ? html : plain;
        return findVariables(parser.engine, parser.parse(part, template));
      }),
  };
}

/** Parses templates. A check, or a run of emails, renders the same one several times. */
class Parser {
  readonly engine: Liquid;
  readonly #parsed = new Map<TemplatePart, { readonly template: string; readonly nodes: Template[] }>();

  constructor(engine: Liquid) {
    this.engine = engine;
  }

  parse(part: TemplatePart, template: string): Template[] {
    const known = this.#parsed.get(part);
    if (known?.template === template) return known.nodes;
    const nodes = this.engine.parse(template);
    this.#parsed.set(part, { template, nodes });
    return nodes;
  }
}

/** Variables of the frame that depend only on the brand and the language. */
const designVariable =
  /\{\{\s+((?:colors|dark_colors)\.\w+|brand\.(?:font|radius)|color_schemes|dir|start|language)\s+\}\}/g;

const designPaths = [
  ...new Set(
    Object.values(frameParts.html).flatMap((text) =>
      Array.from(text.matchAll(designVariable), ([, path = ""]) => path),
    ),
  ),
].map((path) => ({ path, names: path.split(".") }));

/** The number of designs of which parsed frames are kept. */
const maxDesigns = 50;

/** Frames into which the variables of a design are written once, because there are many, and each takes time. */
class Designs {
  readonly #create: (parts: FrameParts) => Parser;
  /** By the values of the variables; undefined if the design was used once. */
  readonly #known = new Map<string, Parser | undefined>();

  constructor(create: (parts: FrameParts) => Parser) {
    this.#create = create;
  }

  /** Returns the frames of a design that was used before. */
  find(scope: object): Parser | undefined {
    const values = designPaths.map(({ names }) => names.reduce<unknown>(getMember, scope));
    const key = JSON.stringify(values);
    const isNew = !this.#known.has(key);
    const parser = this.#known.get(key) ?? (isNew ? undefined : this.#create(writeDesign(values)));
    if (isNew && this.#known.size === maxDesigns) this.#known.clear();
    this.#known.set(key, parser);
    return parser;
  }
}

const getMember = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;

function writeDesign(values: readonly unknown[]): FrameParts {
  const byPath = new Map(designPaths.map(({ path }, at) => [path, values[at]]));
  const write = (variable: string, path: string) => {
    const value = byPath.get(path);
    // Custom templates can lack variables, which is an error when they are rendered.
    return ["string", "number"].includes(typeof value) ? escapeValue(value).replaceAll(/[{}]/g, "") : variable;
  };
  const parts = Object.entries(frameParts.html).map(([name, text]) => [name, text.replaceAll(designVariable, write)]);
  return Object.fromEntries(parts) as FrameParts;
}

let lastInput: { readonly text: string; readonly lineStarts: readonly number[] } | undefined;

/** Replaces a method that reads the template from its beginning for each token, so that a check took quadratic time. */
function findPosition(this: Token): [number, number] {
  const { input, begin } = this;
  if (lastInput?.text !== input) {
    lastInput = { text: input, lineStarts: [0, ...[...input.matchAll(/\n/g)].map(({ index }) => index + 1)] };
  }
  const { lineStarts } = lastInput;
  let [low, high] = [0, lineStarts.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((lineStarts[middle] ?? 0) <= begin) low = middle;
    else high = middle;
  }
  return [low + 1, begin - (lineStarts[low] ?? 0) + 1];
}

function findVariables(engine: Liquid, template: Template[]): UsedVariable[] {
  const { globals } = engine.analyzeSync(template, { partials: false });
  return Object.values(globals)
    .flat()
    .map((variable) => ({
      segments: variable.toArray(),
      place: { line: variable.location.row, column: variable.location.col },
    }));
}

function asText(value: unknown): string {
  if (Array.isArray(value)) return value.map(asText).join("");
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "string" ? value : "";
}

function withTemplateErrors<Result>(part: TemplatePart, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof TemplateError) throw error;
    const { originalError, message, token } = error as Partial<LiquidError> & Error;
    const first = (originalError?.message ?? message).split("\n")[0] ?? "";
    const problem = limitMessages.find(([pattern]) => pattern.test(first))?.[1] ?? formatLiquidMessage(first);
    const [line, column] = token?.getPosition() ?? [];
    throw new TemplateError(part, problem, line && column ? { line, column } : undefined);
  }
}

const limitMessages: readonly (readonly [RegExp, string])[] = [
  [/parse length limit/, `is longer than ${limits.templateLength} characters`],
  [/render limit/, "takes too long to render; check its loops"],
  [/memory alloc limit|Invalid string length/, "produces too much output; check its loops"],
  [/call stack/i, "is nested too deeply"],
];

function formatLiquidMessage(message: string): string {
  const unknown = /^undefined (variable|filter): (.+)$/.exec(message);
  if (unknown) return `unknown ${unknown[1]} ${unknown[2]}`;
  const part = /^ENOENT: Failed to lookup "(.*)" in/.exec(message);
  if (part) return `unknown part ${part[1]} of the frame`;
  const tag = /^tag "(.+)" not found$/.exec(message);
  return tag ? `unknown tag ${tag[1]}` : message.replace(/, line:\d+, col:\d+$/, "");
}
