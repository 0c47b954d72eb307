import { sql } from "kysely";
import { createStatement } from "../../storage/statement.ts";
import type { HandlerContext } from "../kernel/handler.ts";

type Context = Pick<HandlerContext, "transaction" | "dialect" | "nowMs" | "bottomLinesDelayMs">;

/** Where the reviews of a product are read from, of a group of products, of an account's own store. */
export const productTarget = (productRow: number): string => `p${productRow}`;
export const groupTarget = (groupRow: number): string => `g${groupRow}`;
export const siteTarget = (accountId: number): string => `s${accountId}`;
/** All reviews of an account; nothing is read from it but its count. */
export const accountTarget = (accountId: number): string => `a${accountId}`;

/** The group that a product is in. */
export async function findGroup(
  productRow: number,
  { transaction }: Pick<Context, "transaction">,
): Promise<number | undefined> {
  const found = await transaction
    .selectFrom("group_products")
    .select("group_row")
    .where("product_row", "=", productRow)
    .executeTakeFirst();
  return found?.group_row;
}

/** The shelf that a product's reviews are read from. */
export async function findRatingTarget(
  productRow: number,
  context: Pick<Context, "transaction">,
): Promise<string> {
  const group = await findGroup(productRow, context);
  return group === undefined ? productTarget(productRow) : groupTarget(group);
}

/** Published reviews by stars, from one to five. */
export type Stars = readonly [number, number, number, number, number];

/** The published reviews of a shelf by stars. */
export async function readStars(
  shelf: string,
  { transaction }: Pick<Context, "transaction">,
): Promise<Stars> {
  const found = await transaction
    .selectFrom("review_totals")
    .select(["stars_1", "stars_2", "stars_3", "stars_4", "stars_5"])
    .where("shelf", "=", shelf)
    .executeTakeFirst();
  return found ? [found.stars_1, found.stars_2, found.stars_3, found.stars_4, found.stars_5] : noStars;
}

export const noStars: Stars = [0, 0, 0, 0, 0];

/** How many reviews the stars are of, and the sum of their scores. */
export function sumStars(stars: Stars): { readonly reviews: number; readonly score: number } {
  return {
    reviews: stars.reduce((sum, count) => sum + count, 0),
    score: stars.reduce((sum, count, at) => sum + count * (at + 1), 0),
  };
}

/** Assumed: an average is rounded to two decimals, and is 0 where there is no review. */
export function averageScore({
  reviews,
  score,
}: {
  readonly reviews: number;
  readonly score: number;
}): number {
  return reviews === 0 ? 0 : Math.round((score / reviews) * 100) / 100;
}

/** Where a review counts: its product's own shelf and that of the product's group, or the store's. */
interface Counted {
  readonly accountId: number;
  /** Null for a review of the store itself. */
  readonly productRow: number | null;
  readonly score: number;
}

/** Counts a review that was published (1), or taken off the pages (-1). */
export async function countReview(
  { accountId, productRow, score }: Counted,
  by: 1 | -1,
  context: Context,
): Promise<void> {
  const stars = noStars.map((_, at) => (at + 1 === score ? by : 0)) as unknown as Stars;
  await addStars({ accountId, shelf: accountTarget(accountId), productRow: null }, stars, context);
  if (productRow === null) {
    await addStars({ accountId, shelf: siteTarget(accountId), productRow: null }, stars, context);
    return;
  }
  await addToShelf({ accountId, shelf: productTarget(productRow), productRow }, stars, context);
  const group = await findGroup(productRow, context);
  if (group !== undefined) {
    await addToShelf({ accountId, shelf: groupTarget(group), productRow: null }, stars, context);
  }
}

interface ShelfRow {
  readonly accountId: number;
  readonly shelf: string;
  readonly productRow: number | null;
}

async function addToShelf(row: ShelfRow, stars: Stars, context: Context): Promise<void> {
  await addStars(row, stars, context);
  await noteChange(row, stars, context);
}

async function addStars(
  { accountId, shelf, productRow }: ShelfRow,
  [s1, s2, s3, s4, s5]: Stars,
  { transaction, dialect, nowMs }: Context,
): Promise<void> {
  const product = productRow ?? 0;
  await addStarsRow(transaction, dialect, { accountId, shelf, product, nowMs, s1, s2, s3, s4, s5 });
}

const addStarsRow = createStatement<{
  accountId: number;
  shelf: string;
  product: number;
  nowMs: number;
  s1: number;
  s2: number;
  s3: number;
  s4: number;
  s5: number;
}>(
  (slot) => sql`
    insert into review_totals (account_id, shelf, product_row, stars_1, stars_2, stars_3, stars_4, stars_5,
      shown_reviews, shown_score, listed, updated_at)
    values (${slot("accountId")}, ${slot("shelf")}, nullif(cast(${slot("product")} as bigint), 0), ${slot("s1")},
      ${slot("s2")}, ${slot("s3")}, ${slot("s4")}, ${slot("s5")}, 0, 0, 0, ${slot("nowMs")})
    on conflict (shelf) do update set
      stars_1 = review_totals.stars_1 + excluded.stars_1, stars_2 = review_totals.stars_2 + excluded.stars_2,
      stars_3 = review_totals.stars_3 + excluded.stars_3, stars_4 = review_totals.stars_4 + excluded.stars_4,
      stars_5 = review_totals.stars_5 + excluded.stars_5`,
);

async function noteChange(
  { accountId, shelf }: Pick<ShelfRow, "accountId" | "shelf">,
  stars: Stars,
  { transaction, nowMs, bottomLinesDelayMs }: Context,
): Promise<void> {
  const { reviews, score } = sumStars(stars);
  await transaction
    .insertInto("bottom_line_changes")
    .values({ account_id: accountId, shelf, reviews, score, due_at: nowMs + bottomLinesDelayMs })
    .execute();
}
