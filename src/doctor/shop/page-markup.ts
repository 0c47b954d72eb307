import { Parser } from "htmlparser2";

/** An element of a page, with its attributes by lowercase name. */
export interface PageElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** What a page contains that concerns its elements. */
export interface PageMarkup {
  /** `<script>` elements with `src`. */
  readonly scripts: readonly PageElement[];
  /** Elements whose name starts with `starpost-`. */
  readonly elements: readonly PageElement[];
  /** Policies in `<meta http-equiv="Content-Security-Policy">`. */
  readonly policies: readonly string[];
  /** The address in `<base>`, if there is one. */
  readonly base: string | undefined;
  /** Products in JSON-LD and microdata. */
  readonly products: readonly ProductMarkup[];
  /** The number of JSON-LD blocks that are not valid JSON. */
  readonly invalidJsonLd: number;
}

/** A product that is described for search engines. */
export interface ProductMarkup {
  readonly format: "JSON-LD" | "microdata";
  readonly name: string | undefined;
  /** Whether it has an `@id` (JSON-LD) or `itemid` (microdata). */
  readonly hasId: boolean;
  readonly hasRating: boolean;
}

/** The nesting of JSON-LD that is read. */
const maxDepth = 20;

/** The nesting of elements that is read: twice that of browsers. The time of the parser grows with its square. */
export const maxNesting = 1_024;

/**
 * Reads a page. What is inside `<template>` and comments is not part of it.
 * @returns undefined if its elements are nested too deeply
 */
export function readPageMarkup(html: string): PageMarkup | undefined {
  const scripts: PageElement[] = [];
  const elements: PageElement[] = [];
  const policies: string[] = [];
  const microdata: { depth: number; product: { -readonly [K in keyof ProductMarkup]: ProductMarkup[K] } }[] = [];
  const products: ProductMarkup[] = [];
  let [base, jsonLd, invalidJsonLd, depth, templates]: [
    string | undefined,
    string | undefined,
    number,
    number,
    number,
  ] = [undefined, undefined, 0, 0, 0];
  const parser = new Parser({
    onopentag(name, attributes) {
      depth += 1;
      if (depth > maxNesting) parser.pause();
      if (name === "template") templates += 1;
      if (templates > 0) return;
      if (name.startsWith("starpost-")) elements.push({ name, attributes });
      if (name === "script" && attributes["src"] !== undefined) scripts.push({ name, attributes });
      else if (name === "script" && isType(attributes, "application/ld+json")) jsonLd = "";
      if (name === "base") base ??= attributes["href"];
      if (name === "meta" && isPolicy(attributes)) policies.push(attributes["content"] ?? "");
      const { itemtype = "", itemprop = "", itemid } = attributes;
      if (/schema\.org\/Product(?:\s|$)/.test(itemtype)) {
        const product = {
          format: "microdata",
          name: undefined,
          hasId: itemid !== undefined,
          hasRating: false,
        } as const;
        microdata.push({ depth, product });
      }
      const open = microdata.at(-1)?.product;
      if (open && itemprop.split(/\s+/).includes("aggregateRating")) open.hasRating = true;
    },
    ontext(text) {
      if (jsonLd !== undefined) jsonLd += text;
    },
    onclosetag(name) {
      if (name === "template") templates -= 1;
      if (name === "script" && jsonLd !== undefined) {
        const found = parseJsonLd(jsonLd);
        for (const product of found ?? []) products.push(product);
        if (!found) invalidJsonLd += 1;
        jsonLd = undefined;
      }
      if (microdata.at(-1)?.depth === depth) products.push(...microdata.splice(-1).map(({ product }) => product));
      depth -= 1;
    },
  });
  parser.write(html);
  if (depth > maxNesting) return undefined;
  parser.end();
  return { scripts, elements, policies, base, products, invalidJsonLd };
}

function isPolicy(attributes: PageElement["attributes"]): boolean {
  return attributes["http-equiv"]?.toLowerCase() === "content-security-policy";
}

function isType(attributes: PageElement["attributes"], type: string): boolean {
  return attributes["type"]?.trim().toLowerCase() === type;
}

/** @returns undefined if the text is not valid JSON */
function parseJsonLd(text: string): ProductMarkup[] | undefined {
  try {
    return findProducts(JSON.parse(text), maxDepth);
  } catch {
    return undefined;
  }
}

function findProducts(node: unknown, depth: number): ProductMarkup[] {
  if (typeof node !== "object" || node === null || depth === 0) return [];
  const inner = Object.values(node).flatMap((value) => findProducts(value, depth - 1));
  const { "@type": type, "@id": id, name, aggregateRating } = node as Readonly<Record<string, unknown>>;
  const types = Array.isArray(type) ? type : [type];
  if (!types.some((one) => one === "Product" || one === "ProductGroup")) return inner;
  const product: ProductMarkup = {
    format: "JSON-LD",
    name: typeof name === "string" ? name : undefined,
    hasId: typeof id === "string" && id !== "",
    hasRating: aggregateRating !== undefined && aggregateRating !== null,
  };
  return [product, ...inner];
}
