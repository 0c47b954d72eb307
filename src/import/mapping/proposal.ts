import { type FieldSynonyms, isRejectColumn } from "./names.ts";
import type { FieldSpec } from "../kind.ts";
import { distance } from "fastest-levenshtein";
import { matchLanguage, platforms, readEmailTypeId } from "../../contract/index.ts";
import { isNumberedDate, readNamedDate } from "../layouts/dates.ts";
import { readDate } from "../check/date.ts";
import { readPrice } from "../check/price.ts";

/** A column of the file with some of its non-empty values. */
export interface ColumnSample {
  readonly name: string;
  readonly values: readonly string[];
}

/** The kind whose synonyms are compared with column names. */
export interface SynonymSource {
  readonly synonyms?: Readonly<Record<string, FieldSynonyms>> | undefined;
}

/** The confidence in a proposal. */
export type Confidence = "sure" | "likely" | "guess";

export interface FieldProposal {
  readonly field: string;
  readonly isRequired: boolean;
  /** The best column; undefined if none is good enough. */
  readonly column: string | undefined;
  readonly confidence: Confidence | undefined;
  /** All columns, best first. */
  readonly ranked: readonly string[];
  /** Whether the column may be used for a required or guarded field without asking. */
  readonly isCertain: boolean;
  readonly isGuarded: boolean;
  /** The columns that could be meant, best first, if the choice is not certain. */
  readonly similar: readonly string[];
}

/** Minimum scores: for a column to be proposed, and to be called likely or sure. */
const least = { proposed: 0.45, likely: 0.65, sure: 0.85 } as const;

/** The minimum score and the maximum number of the columns to suggest. */
const suggested = { score: 0.3, count: 3 } as const;

/** Weights for the ways in which a name matches: unambiguous, vague, containing a synonym, or misspelled. */
const weights = { plain: 0.97, vague: 0.62, held: 0.55, misspelled: 0.85 } as const;

interface Scored {
  readonly field: string;
  readonly column: string;
  readonly score: number;
}

/**
 * Proposes a column for each field, by column name and by the first values.
 * Assumed: a column holds one field; if two fields compete for one, the better match wins.
 */
export function proposeColumns(
  kind: SynonymSource,
  fields: readonly FieldSpec[],
  samples: readonly ColumnSample[],
): FieldProposal[] {
  // Without duplicate names, of which only the first can be selected, and reject columns.
  const names = samples.map(({ name }) => name);
  const isUsable = (name: string, at: number) => name !== "" && names.indexOf(name) === at && !isRejectColumn(name);
  const columns = samples.filter(({ name }, at) => isUsable(name, at));
  const scored: Scored[] = fields.flatMap((field) =>
    columns
      .filter(({ name }) => kind.synonyms?.[field.name]?.requires?.test(squashName(name)) ?? true)
      .map((column) => ({ field: field.name, column: column.name, score: scoreColumn(kind, field, column) })),
  );
  scored.sort((a, b) => b.score - a.score);
  const chosen = new Map<string, Scored>();
  const taken = new Set<string>();
  for (const match of scored) {
    if (match.score < least.proposed || chosen.has(match.field) || taken.has(match.column)) continue;
    chosen.set(match.field, match);
    taken.add(match.column);
  }
  const isNative = isMostlyNative(fields, columns);
  return fields.map((field) => {
    const { name, required = false, isGuarded = false } = field;
    const best = chosen.get(name);
    const others = scored.filter((match) => match.field === name && match.column !== best?.column);
    const ranked = [...(best ? [best] : []), ...others];
    const column = columns.find((one) => one.name === best?.column);
    const isCertain =
      column !== undefined &&
      (isGuarded
        ? isNative && isNamed(field, column.name) && column.values.length > 0
        : isDeclared(kind, field, column, columns));
    return {
      field: name,
      isRequired: required,
      column: best?.column,
      confidence: best && (best.score >= least.sure ? "sure" : best.score >= least.likely ? "likely" : "guess"),
      ranked: ranked.map((match) => match.column),
      isCertain,
      isGuarded,
      similar: ranked
        .filter(({ score }) => score >= suggested.score)
        .map((match) => match.column)
        .slice(0, suggested.count),
    };
  });
}

function isNamed({ name, aliases = [] }: FieldSpec, header: string): boolean {
  const squashed = squashName(header);
  return [name, ...aliases].some((own) => squashName(own) === squashed);
}

/**
 * Whether a column has the field's own name, or is the only one with one of its unambiguous synonyms and has values that
 * fit. Such a match is not a guess.
 */
function isDeclared(
  kind: SynonymSource,
  field: FieldSpec,
  column: ColumnSample,
  columns: readonly ColumnSample[],
): boolean {
  if (isNamed(field, column.name)) return true;
  const { plain = [] } = kind.synonyms?.[field.name] ?? {};
  const isSynonym = ({ name }: ColumnSample) => {
    const squashed = squashName(name);
    return plain.some((term) => wordsOfTerm(term).join("") === squashed);
  };
  const fit = fitValues(field.name, column.values)?.fit ?? 1;
  return fit === 1 && isSynonym(column) && columns.filter(isSynonym).length === 1;
}

/**
 * Whether a file has the own names of most required fields. In another file, a column such as `comment_content` may have
 * the name of a field by coincidence.
 */
function isMostlyNative(fields: readonly FieldSpec[], columns: readonly ColumnSample[]): boolean {
  const required = fields.filter((field) => field.required === true);
  const named = required.filter((field) => columns.some((column) => isNamed(field, column.name)));
  return named.length * 2 >= required.length;
}

/** From 0 to 1. */
function scoreColumn(kind: SynonymSource, field: FieldSpec, { name, values }: ColumnSample): number {
  const byName = scoreName(kind, field, name);
  const seen = fitValues(field.name, values);
  // A column with a native name is used without a mapping, whatever it holds.
  if (!seen || byName === 1) return byName;
  const { fit, alone } = seen;
  const byBoth = byName * (0.3 + 0.7 * fit);
  // The values alone count only if nearly all of them match.
  return fit < 0.8 ? byBoth : 1 - (1 - byBoth) * (1 - alone * fit);
}

function scoreName(kind: SynonymSource, field: FieldSpec, header: string): number {
  const { plain = [], vague = [] } = kind.synonyms?.[field.name] ?? {};
  const words = wordsOf(header);
  if (isNamed(field, header)) return 1;
  const scores = [
    ...plain.map((term) => weights.plain * likeness(term, words)),
    ...vague.map((term) => weights.vague * likeness(term, words)),
  ];
  return Math.max(0, ...scores);
}

/** The similarity of a header and a synonym, from 0 to 1: equal, misspelled, or contained. */
function likeness(term: string, words: readonly string[]): number {
  const termWords = wordsOfTerm(term);
  const [wanted, squashed] = [termWords.join(""), words.join("")];
  if (wanted === squashed) return 1;
  const { length } = wanted;
  const share = length / Math.max(1, squashed.length);
  const isHeld =
    ` ${words.join(" ")} `.includes(` ${termWords.join(" ")} `) || (length >= 5 && squashed.includes(wanted));
  if (isHeld) return weights.held + 0.4 * share;
  const maxChanges = Math.floor(length / 5);
  if (maxChanges === 0 || Math.abs(length - squashed.length) > maxChanges) return 0;
  const changes = distance(wanted, squashed);
  return changes <= maxChanges ? weights.misspelled * (1 - changes / length) : 0;
}

/** The words of a header without accents, case, and filler words: `N° de commande`, `kundenEmail`. */
function wordsOf(header: string): string[] {
  const plain = header
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .normalize("NFKD")
    .replaceAll(/\p{M}+/gu, "")
    .toLowerCase()
    .replaceAll("ß", "ss")
    .replaceAll("ł", "l")
    .replaceAll(/[øœ]/g, "o");
  const words = plain.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "");
  const significant = words.filter((word) => !fillers.has(word));
  return significant.length > 0 ? significant : words;
}

/** A name without spaces and what `wordsOf` drops. */
export function squashName(name: string): string {
  return wordsOf(name).join("");
}

const knownTerms = new Map<string, readonly string[]>();

function wordsOfTerm(term: string): readonly string[] {
  const known = knownTerms.get(term) ?? wordsOf(term);
  knownTerms.set(term, known);
  return known;
}

const fillers = new Set("the of de du des del della di do da la le l d van der die das".split(" "));

/** What a field's values look like, and how strongly a column of them suggests the field on its own, from 0 to 1. */
interface ValueForm {
  readonly fits: (value: string) => boolean;
  readonly alone: number;
}

const urlPattern = /^https?:\/\/\S+$/i;
const imagePattern = /\.(?:jpe?g|png|gif|webp|avif|svg|bmp|tiff?)(?:[?#].*)?$/i;

const isUrl = (value: string) => urlPattern.test(value);
const isImage = (value: string) => value.split(/[|,]\s*/).every((one) => isUrl(one) && imagePattern.test(one));
const isNumber = (value: string) => /^-?\d+(?:[.,]\d+)?$/.test(value);
const isEmail = (value: string) => /^[^\s@,;<>()"]+@[^\s@,;<>()"]+\.[^\s@,;<>()".]+$/.test(value);
const isDate = (value: string) =>
  readDate(value) !== undefined || isNumberedDate(value) || readNamedDate(value) !== value || isShortDate(value);
const isShortDate = (value: string) => /^\d{1,2}[./-]\d{1,2}[./-]\d{2,4}(?:[ T,].*)?$/.test(value);
const isPrice = (value: string) => readPrice(value) !== undefined && !isDate(value);
const isId = (value: string) => value.length <= 64 && !/\s\S+\s/.test(value) && !isUrl(value) && !isEmail(value);
const isText = (value: string) => /\p{L}{2}/u.test(value) && !isUrl(value) && !isEmail(value);

const url: ValueForm = { fits: (value) => isUrl(value) && !imagePattern.test(value), alone: 0.6 };
const image: ValueForm = { fits: isImage, alone: 0.6 };
const id: ValueForm = { fits: isId, alone: 0 };
const name: ValueForm = { fits: isText, alone: 0 };
const price: ValueForm = { fits: isPrice, alone: 0 };

/** By field; fields that are not listed may hold anything. */
const forms: Readonly<Record<string, ValueForm>> = {
  email: { fits: isEmail, alone: 0.75 },
  order_id: id,
  product_id: id,
  user_reference: id,
  sku: id,
  code: id,
  customer_name: { fits: (value) => isText(value) && !/\d{3}/.test(value), alone: 0 },
  product_name: name,
  name,
  product_title: name,
  date: { fits: isDate, alone: 0.55 },
  review_score: { fits: (value) => /^[1-5](?:[.,]0+)?$/.test(value), alone: 0 },
  review_content: { fits: isText, alone: 0 },
  review_title: { fits: isText, alone: 0 },
  display_name: { fits: isText, alone: 0 },
  order_date: { fits: isDate, alone: 0.55 },
  currency_iso: { fits: (value) => /^[A-Za-z]{3}$/.test(value), alone: 0 },
  language: { fits: (value) => matchLanguage(value) !== undefined, alone: 0 },
  platform: { fits: (value) => (platforms as readonly string[]).includes(value), alone: 0.7 },
  product_url: url,
  url,
  product_image: image,
  product_image_url: image,
  image_url: image,
  product_price: price,
  price,
  quantity: { fits: (value) => /^\d{1,4}(?:[.,]0+)?$/.test(value), alone: 0 },
  upc: { fits: (value) => /^\d{8,14}$/.test(value), alone: 0.5 },
  blacklisted: { fits: (value) => /^(?:true|false|yes|no|y|n|[01])$/i.test(value), alone: 0 },
  brand: { fits: (value) => !isUrl(value) && !isNumber(value), alone: 0 },
  email_type_id: { fits: (value) => readEmailTypeId(value) !== undefined, alone: 0 },
};

/**
 * The share of a column's values that look like the field's, and how strongly that suggests the field if the column's
 * name does not. Undefined for a column without values, or a field that may hold anything.
 */
export function fitValues(
  field: string,
  values: readonly string[],
): { readonly fit: number; readonly alone: number } | undefined {
  const form = forms[field];
  if (!form || values.length === 0) return undefined;
  const fit = values.filter((value) => form.fits(value)).length / values.length;
  return { fit, alone: form.alone };
}
