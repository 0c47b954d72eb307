import { sql } from "kysely";

export const starCountText = "(stars_1 + stars_2 + stars_3 + stars_4 + stars_5)";

export const starScoreText = "(stars_1 + 2 * stars_2 + 3 * stars_3 + 4 * stars_4 + 5 * stars_5)";

export const starAverageText =
  "(cast(stars_1 + 2 * stars_2 + 3 * stars_3 + 4 * stars_4 + 5 * stars_5 as double precision) / " +
  "nullif(stars_1 + stars_2 + stars_3 + stars_4 + stars_5, 0))";

export const isRatedProductText = `product_row is not null and ${starCountText} > 0`;

/** The number of published reviews that a row of `review_totals` counts. */
export const starCount = sql.raw<number>(starCountText);

/** The sum of their scores. */
export const starScore = sql.raw<number>(starScoreText);

/** Their average score. An index contains this exact expression; queries use the index only if they repeat it. */
export const starAverage = sql.raw<number>(starAverageText);

/** Rows of single products that have published reviews. */
export const isRatedProduct = sql.raw<boolean>(isRatedProductText);
