import { type Language, languages } from "../contract/brand/brand.ts";
import { dayMs } from "../contract/time.ts";
import { readJson } from "./assets.ts";
import { type ProductId, productIds, products } from "./products.ts";

type Mood = "good" | "mixed" | "bad";

/** Sentences in one language, from which reviews are composed. */
interface Sentences {
  readonly names: readonly string[];
  readonly titles: Readonly<Record<Mood, readonly string[]>>;
  readonly openings: Readonly<Record<Mood, readonly string[]>>;
  readonly closings: Readonly<Record<"good" | "bad", readonly string[]>>;
  readonly products: Readonly<Record<ProductId, Readonly<Record<"good" | "bad", readonly string[]>>>>;
  readonly replies: Readonly<Record<"good" | "bad", string>>;
}

/** A review, as it is stored. */
export interface SampleReview {
  /** Undefined for a review of the shop. */
  readonly product: ProductId | undefined;
  readonly language: Language;
  readonly name: string;
  readonly score: number;
  readonly title: string;
  readonly content: string;
  readonly createdAtMs: number;
  readonly isVerified: boolean;
  readonly reply: string | undefined;
  readonly votesUp: number;
  readonly votesDown: number;
}

/** Reviews by language: 400 in all. */
const counts: Readonly<Record<Language, number>> = {
  en: 96,
  de: 52,
  fr: 40,
  es: 36,
  it: 28,
  nl: 24,
  pl: 24,
  sv: 18,
  "pt-BR": 24,
  ja: 22,
  "zh-Hans": 16,
  ar: 12,
  he: 8,
};

/** How many of 100 reviews are about each product. */
const popularity: Readonly<Record<ProductId, number>> = {
  teapot: 22,
  mug: 20,
  lamp: 13,
  cushion: 10,
  planter: 12,
  stool: 8,
  clock: 6,
  blanket: 9,
};

/** The same for reviews of the shop itself, with the shares of 4 and 5 stars. */
const shopPopularity = 6;
const shopStars = [0, 0, 0, 20, 80];

/** A pseudo-random sequence from 0 to 1 that is the same in each run (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296;
  };
}

type Random = () => number;

function pick<T>(values: readonly T[], random: Random): T {
  const value = values[Math.floor(random() * values.length)];
  if (value === undefined) throw new Error("nothing to pick from");
  return value;
}

/** Picks different values. */
function pickSome<T>(values: readonly T[], count: number, random: Random): readonly T[] {
  const rest = [...values];
  return Array.from({ length: Math.min(count, rest.length) }, () =>
    rest.splice(Math.floor(random() * rest.length), 1),
  ).flat();
}

function pickWeighted<T>(weights: readonly (readonly [T, number])[], random: Random): T {
  let rest = random() * weights.reduce((sum, [, weight]) => sum + weight, 0);
  const found = weights.find(([, weight]) => (rest -= weight) < 0) ?? weights.at(-1);
  if (found === undefined) throw new Error("nothing to pick from");
  return found[0];
}

/** Composes the reviews of the sample shop, which differ only in their times from run to run. */
export function composeReviews(nowMs: number): readonly SampleReview[] {
  const random = createRandom(20_260_801);
  return languages.flatMap((language) => {
    const sentences = readJson<Sentences>(`reviews/${language}`);
    return Array.from({ length: counts[language] }, () => composeReview(language, sentences, { random, nowMs }));
  });
}

interface Drawing {
  readonly random: Random;
  readonly nowMs: number;
}

function composeReview(language: Language, sentences: Sentences, { random, nowMs }: Drawing): SampleReview {
  const product = pickWeighted<ProductId | undefined>(
    [[undefined, shopPopularity], ...productIds.map((id) => [id, popularity[id]] as const)],
    random,
  );
  const stars = product === undefined ? shopStars : products[product].stars;
  const score = pickWeighted(
    stars.map((weight, at) => [at + 1, weight]),
    random,
  );
  const mood: Mood = score >= 4 ? "good" : score === 3 ? "mixed" : "bad";
  // Recent reviews are more frequent, and the newest ones are in the language of the home page.
  const ageMs = (random() ** 2 * 540 + (language === "en" ? 0.2 : 30)) * dayMs;
  const isAnswered = mood === "bad" ? random() < 0.8 : random() < 0.12;
  return {
    product,
    language,
    name: pick(sentences.names, random),
    score,
    title: pick(sentences.titles[mood], random),
    content: product === undefined ? composeShopText(sentences, random) : composeText(sentences, product, mood, random),
    createdAtMs: Math.round(nowMs - ageMs),
    isVerified: random() < 0.7,
    reply: isAnswered ? sentences.replies[mood === "good" ? "good" : "bad"] : undefined,
    votesUp: Math.floor(random() ** 3 * 24),
    votesDown: Math.floor(random() ** 6 * 5),
  };
}

/** The opening sentences about orders and deliveries, which are the second and the third one, and a closing one. */
function composeShopText({ openings, closings }: Sentences, random: Random) {
  return join([...pickSome(openings.good.slice(1, 3), random() < 0.5 ? 1 : 2, random), pick(closings.good, random)]);
}

/** From one sentence to two paragraphs. */
function composeText(
  { openings, closings, products: about }: Sentences,
  product: ProductId,
  mood: Mood,
  random: Random,
) {
  const { good, bad } = about[product];
  if (mood === "good") {
    const length = random();
    const praise = pickSome(good, length < 0.3 ? 1 : length < 0.75 ? 2 : 3, random);
    if (length < 0.3) return join(praise);
    if (length < 0.75) return join([pick(openings.good, random), ...praise]);
    return `${join([pick(openings.good, random), ...praise])}\n\n${pick(closings.good, random)}`;
  }
  const criticism = pickSome(bad, 2, random);
  if (mood === "mixed") return join([pick(openings.mixed, random), pick(good, random), ...criticism.slice(0, 1)]);
  return join([pick(openings.bad, random), ...criticism, pick(closings.bad, random)]);
}

/** Japanese and Chinese sentences have no spaces between them. */
function join(sentences: readonly string[]): string {
  return sentences.reduce((text, sentence) => (/[。！]$/.test(text) ? text + sentence : `${text} ${sentence}`));
}
