import type { Liquid, LiquidError } from "liquidjs";
import { balanceDirectionMarks } from "../../pages/bidi.ts";
import { escapeText } from "../../pages/markup.ts";
import type { EmailTemplate } from "../outgoing-email.ts";
import { type TemplatePart, TemplateError } from "./template-error.ts";

/**
 * What one part of one mail may take: no template keeps a worker from its other mails.
 * Assumed: far more than a mail needs; mail programs cut off what is longer than about 100,000 characters.
 */
const limits = {
  templateLength: 100_000,
  /** Of a mail that is sent: a machine may be busy, and a mail that is given up is not made again. */
  renderMs: 2_000,
  /** Characters and elements that its filters and ranges make. */
  memory: 2_000_000,
  outputLength: 1_000_000,
} as const;

/**
 * Assumed: all others are left out: those that read files, those that put a value out without escaping it, and `capture`,
 * whose elements would be escaped.
 */
const tags = new Set("assign case comment for if unless break continue echo liquid raw #".split(" "));

/** Assumed: `raw` is left out, so that no template makes markup of what people wrote. */
const filters = new Set(
  `escape newline_to_br strip_html abs at_least at_most ceil divided_by floor minus plus modulo times round url_encode
  join last first reverse sort size map sum compact concat slice where uniq date append prepend lstrip downcase upcase
  remove remove_first rstrip split strip strip_newlines squish capitalize replace replace_first truncate truncatewords
  number_of_words array_to_sentence_string default`.split(/\s+/),
);

/** Each line with a mark before it, as answers to mails have it. */
function quoteLines(text: string): string {
  return text
    .split("\n")
    .map((line) => `> ${line}`)
    .join("\n");
}

/** Turns templates into text; HTML escapes each value, whoever wrote the template. */
export interface Renderer {
  render: (part: TemplatePart, template: string, scope: object, limitMs?: number) => string;
  /** What a template names from outside. */
  namesOf: (part: TemplatePart, template: string) => readonly OutsideName[];
}

interface OutsideName {
  /** A path: `["customer", "name"]`; what is no name in it is an index, or a path again. */
  readonly segments: readonly unknown[];
  readonly place: Place;
}

interface Place {
  readonly line: number;
  readonly column: number;
}

/** A template that misses a variable is refused, and so is one that goes beyond the limits. */
export async function openRenderer(): Promise<Renderer> {
  const { Liquid: Engine } = await import("liquidjs");
  const make = (outputEscape: (value: unknown) => string) =>
    restrict(
      new Engine({
        outputEscape,
        ownPropertyOnly: true,
        strictFilters: true,
        strictVariables: true,
        timezoneOffset: 0,
        locale: "en",
        templates: {},
        parseLimit: limits.templateLength,
        renderLimit: limits.renderMs,
        memoryLimit: limits.memory,
      }),
    );
  const plain = make((value) => balanceDirectionMarks(asText(value)));
  const html = make((value) => escapeText(balanceDirectionMarks(asText(value))));
  plain.registerFilter("quote", (value: unknown) => quoteLines(asText(value)));
  // Every value is escaped once, also where a template says so.
  for (const engine of [plain, html]) engine.registerFilter("escape", asText);
  // It escapes by itself: as the last filter it puts elements out, and before another it is text that is escaped again.
  html.registerFilter("newline_to_br", {
    raw: true,
    handler: (value: unknown) => escapeText(balanceDirectionMarks(asText(value))).replaceAll("\n", "<br>\n"),
  });
  const engineOf = (part: keyof EmailTemplate) => (part === "html" ? html : plain);
  return {
    render: (part, template, scope, renderLimit = limits.renderMs) =>
      guard(part, () => {
        const made = engineOf(part).parseAndRenderSync(template, scope, { renderLimit }) as string;
        if (made.length > limits.outputLength)
          throw new TemplateError(part, "makes a mail that is far too long");
        return made;
      }),
    namesOf: (part, template) => guard(part, () => readNames(engineOf(part), template)),
  };
}

function restrict(engine: Liquid): Liquid {
  for (const name of Object.keys(engine.tags)) if (!tags.has(name)) delete engine.tags[name];
  for (const name of Object.keys(engine.filters)) if (!filters.has(name)) delete engine.filters[name];
  return engine;
}

function readNames(engine: Liquid, template: string): OutsideName[] {
  const { globals } = engine.analyzeSync(engine.parse(template), { partials: false });
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

function guard<Made>(part: TemplatePart, make: () => Made): Made {
  try {
    return make();
  } catch (error) {
    if (error instanceof TemplateError) throw error;
    throw asProblem(part, error as Partial<LiquidError> & Error);
  }
}

const limitWords: readonly (readonly [RegExp, string])[] = [
  [/parse length limit/, `is longer than ${limits.templateLength} characters`],
  [/render limit/, "takes too long to make; does a loop in it go on and on?"],
  [/memory alloc limit|Invalid string length/, "makes too much text; does a loop in it go on and on?"],
  [/call stack/i, "has too many parts inside of each other"],
];

function asProblem(part: TemplatePart, error: Partial<LiquidError> & Error): TemplateError {
  const first = (error.originalError ?? error).message.split("\n")[0] ?? "";
  const says = limitWords.find(([pattern]) => pattern.test(first))?.[1] ?? wordsOf(first);
  const [line, column] = error.token?.getPosition() ?? [];
  return new TemplateError(part, says, line && column ? { line, column } : undefined);
}

function wordsOf(message: string): string {
  const unknown = /^undefined (variable|filter): (.+)$/.exec(message);
  if (unknown) return `${unknown[2]} is no ${unknown[1]} that there is`;
  const tag = /^tag "(.+)" not found$/.exec(message);
  return tag ? `${tag[1]} is no tag that there is` : message.replace(/, line:\d+, col:\d+$/, "");
}
