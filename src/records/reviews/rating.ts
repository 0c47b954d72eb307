/** The highest ratings that `--rating-scale` accepts. */
export const scales = ["5", "10", "100"] as const;
export type Scale = (typeof scales)[number];

/** `4`, `4.5`, `8/10`, `4 out of 5`, `90%`, `5 stars`. */
const pattern = /^(\d{1,3}(?:[.,]\d{1,4})?)\s*(?:(?:\/|out of)\s*(5|10|100)|(%)|stars?)?$/i;

/** A rating in stars, and the scale from which it was converted or rounded. */
export interface Rating {
  readonly stars: number;
  readonly scale: number;
  readonly isExact: boolean;
}

/**
 * Converts a rating to stars. Halves are rounded up, and no rating becomes 0 stars.
 * @param scale the highest rating of the file; a rating that names its scale ignores it
 * @returns undefined if it is not a rating above 0 of this scale
 */
export function readRating(value: string, scale: Scale = "5"): Rating | undefined {
  const [, number, own, percent] = pattern.exec(value) ?? [];
  if (number === undefined) return undefined;
  const highest = percent === undefined ? Number(own ?? scale) : 100;
  const rating = Number(number.replace(",", "."));
  if (rating <= 0 || rating > highest) return undefined;
  const stars = Math.max(1, Math.round((rating * 5) / highest));
  return { stars, scale: highest, isExact: highest === 5 && stars === rating };
}

/**
 * The scale of a column of ratings: 10 or 100 if no rating is higher, and most of those that are numbers are above 5.
 * Assumed: if only a few are above 5, these are errors.
 */
export function impliedScale(values: Iterable<string>): { readonly rating_scale?: Scale } {
  let [numbers, above, highest] = [0, 0, 0];
  for (const value of values) {
    if (!/^\s*\d{1,3}(?:[.,]\d{1,4})?\s*$/.test(value)) continue;
    const rating = Number(value.replace(",", "."));
    numbers++;
    if (rating > 5) above++;
    highest = Math.max(highest, rating);
  }
  if (above * 2 <= numbers || highest > 100) return {};
  return { rating_scale: highest > 10 ? "100" : "10" };
}

/** Counts the ratings that were converted, for the notices at the end of a run. */
export class RatingTally {
  readonly #counts = new Map<number, number>();

  add({ scale, isExact }: Rating): void {
    if (!isExact) this.#counts.set(scale, (this.#counts.get(scale) ?? 0) + 1);
  }

  *notices(): Generator<string> {
    for (const [scale, count] of this.#counts) {
      const ratings = count === 1 ? "1 rating was" : `${count} ratings were`;
      if (scale === 5) yield `${ratings} rounded to full stars`;
      else yield `${ratings} converted from a scale of ${scale} to stars; for another scale, pass --rating-scale`;
    }
  }
}
