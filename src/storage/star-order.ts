import { sql } from "kysely";

/** How many published reviews a row of `review_totals` counts. */
export const starCount = sql<number>`(stars_1 + stars_2 + stars_3 + stars_4 + stars_5)`;

/** Their average score. An index has its values, which a query uses that says it in the same words. */
export const starAverage = sql<number>`(cast(stars_1 + 2 * stars_2 + 3 * stars_3 + 4 * stars_4 + 5 * stars_5
  as double precision) / nullif(stars_1 + stars_2 + stars_3 + stars_4 + stars_5, 0))`;

/** The rows that are a product's own, and have something to count. */
export const isRatedProduct = sql<boolean>`product_row is not null and ${starCount} > 0`;
