/** A review as the specification describes it. */
export interface ModelReview {
  readonly id: number;
  /** Undefined for a review of the store. */
  readonly productId: string | undefined;
  readonly score: number;
  readonly title: string;
  readonly content: string;
  readonly email: string;
  readonly userReference: string | null;
  readonly createdMs: number;
  published: boolean;
  votesUp: number;
  votesDown: number;
  comment: string | null;
  /** Decisions on publication, with their reasons. */
  readonly decisions: { readonly event: string; readonly by: string; readonly reason: string }[];
}

export interface ModelLine {
  readonly domain_key: string;
  readonly product_score: number;
  readonly total_reviews: number;
}

export interface ModelTotals {
  readonly total: number;
  readonly average: number;
  readonly stars: Readonly<Record<1 | 2 | 3 | 4 | 5, number>>;
}

export function totalsOf(reviews: readonly ModelReview[]): ModelTotals {
  const stars = { 1: 0, 2: 0, 3: 0, 4: 0, 5: 0 };
  let sum = 0;
  for (const { score } of reviews) {
    stars[score as keyof typeof stars] += 1;
    sum += score;
  }
  const total = reviews.length;
  return { total, average: total === 0 ? 0 : Math.round((sum / total) * 100) / 100, stars };
}

interface Rated {
  /** In the order of their creation. */
  readonly productIds: readonly string[];
  readonly reviews: readonly ModelReview[];
  readonly groups: ReadonlyMap<string, ReadonlySet<string>>;
}

/** The reviews that a product shows: its own, or those of all products of its group. */
export function shownReviews(productId: string, { reviews, groups }: Pick<Rated, "reviews" | "groups">) {
  const members = [...groups.values()].find((group) => group.has(productId)) ?? new Set([productId]);
  return reviews.filter(
    (review) => review.published && review.productId !== undefined && members.has(review.productId),
  );
}

/** All bottom lines as of now: a grouped product has two, first that of its group. */
export function linesOf({ productIds, reviews, groups }: Rated): ModelLine[] {
  const counted = new Map<string, { total: number; sum: number }>();
  for (const { published, productId, score } of reviews) {
    if (!published || productId === undefined) continue;
    const own = counted.get(productId) ?? { total: 0, sum: 0 };
    counted.set(productId, { total: own.total + 1, sum: own.sum + score });
  }
  const line = (domain_key: string, members: Iterable<string>): ModelLine => {
    let [total, sum] = [0, 0];
    for (const member of members) {
      total += counted.get(member)?.total ?? 0;
      sum += counted.get(member)?.sum ?? 0;
    }
    const product_score = total === 0 ? 0 : Math.round((sum / total) * 100) / 100;
    return { domain_key, product_score, total_reviews: total };
  };
  return productIds.flatMap((id) => {
    const group = [...groups.values()].find((members) => members.has(id));
    const own = line(id, [id]);
    const shared = group && line(id, group);
    if (shared && shared.total_reviews > 0) return [shared, own];
    return own.total_reviews > 0 ? [own] : [];
  });
}

/** The bottom lines at different times. */
export class LineHistory {
  #moments: { readonly atMs: number; readonly lines: readonly ModelLine[] }[] = [];

  add(atMs: number, lines: readonly ModelLine[]): void {
    this.#moments.push({ atMs, lines });
    const keptFrom = this.#moments.findLastIndex((moment) => moment.atMs <= atMs - 24 * 60 * 60 * 1_000);
    if (keptFrom > 0) this.#moments = this.#moments.slice(keptFrom);
  }

  asOf(atMs: number): readonly ModelLine[] {
    return this.#moments.findLast((moment) => moment.atMs <= atMs)?.lines ?? [];
  }
}
