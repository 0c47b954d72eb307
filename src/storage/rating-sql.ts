import { sql } from "kysely";

/** The number of published reviews that a row of `review_totals` counts. */
export const starCount = sql<number>`(stars_1 + stars_2 + stars_3 + stars_4 + stars_5)`;

/** The sum of their scores. */
export const starScore = sql<number>`(stars_1 + 2 * stars_2 + 3 * stars_3 + 4 * stars_4 + 5 * stars_5)`;

/** Their average score. An index contains this exact expression; queries use the index only if they repeat it. */
export const starAverage = sql<number>`(cast(stars_1 + 2 * stars_2 + 3 * stars_3 + 4 * stars_4 + 5 * stars_5
  as double precision) / nullif(stars_1 + stars_2 + stars_3 + stars_4 + stars_5, 0))`;

/** Rows of single products that have published reviews. */
export const isRatedProduct = sql<boolean>`product_row is not null and ${starCount} > 0`;
