import { sql } from "kysely";
import type * as z from "zod";
import { type contract, maxPromoted, invalidField } from "../../contract/index.ts";
import { isRatedProduct, starAverage, starCount, starScore } from "../../storage/rating-sql.ts";
import { deleteAccountRows, findRows, selectAccountRows } from "../kernel/account-rows.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { openProductView } from "../products/product-view.ts";
import { averageScore } from "./star-totals.ts";

type Chosen = z.output<typeof contract.products.setPromoted.input>;
type Listed = z.output<typeof contract.products.promoted.output>;
type Algorithm = "manual" | "top_rated";

/**
 * Lists promoted products, from position 1.
 * Source: spec "Promoted product (output)". Assumed: these are the store's choice, in its order (`manual`), or else the
 * best-rated products that are not blacklisted, by average score, number of reviews, and ID (`top_rated`).
 */
export async function listPromotedProducts(_input: unknown, context: HandlerContext): Promise<Listed> {
  const chosen = await findRows("promoted_products", ["product_row"], {}, context, "position");
  const isChosen = chosen.length > 0;
  const promoted = isChosen ? chosen : await selectBestProducts(context).limit(maxPromoted).execute();
  const rows = promoted.flatMap(({ product_row }) => product_row ?? []);
  return { products: await describeProducts(rows, isChosen ? "manual" : "top_rated", context) };
}

/**
 * Sets and lists the promoted products.
 * Assumed: blacklisted products are allowed, because blacklisting only affects emails; an empty list restores automatic
 * selection.
 * @throws ServiceError `invalidParams` for unknown or repeated products
 */
export async function setPromotedProducts({ product_ids }: Chosen, context: HandlerContext): Promise<Listed> {
  const { transaction } = context;
  const { id } = accountOf(context);
  const rows = await findProductRows(product_ids, context);
  await deleteAccountRows("promoted_products", id, transaction).execute();
  if (rows.length > 0) {
    const values = rows.map((product_row, at) => ({ account_id: id, position: at + 1, product_row }));
    await transaction.insertInto("promoted_products").values(values).execute();
  }
  return listPromotedProducts({}, context);
}

async function findProductRows(productIds: readonly string[], context: HandlerContext): Promise<number[]> {
  if (productIds.length === 0) return [];
  const repeated = productIds.find((id, at) => productIds.indexOf(id) !== at);
  if (repeated !== undefined) {
    throw invalidField("product_ids", `contains ${repeated} more than once`);
  }
  const found = await findRows("products", ["id", "product_id"], { product_id: productIds }, context);
  const rows = new Map(found.map(({ id, product_id }) => [product_id, id]));
  return productIds.map((productId) => {
    const row = rows.get(productId);
    if (row !== undefined) return row;
    throw invalidField("product_ids", `contains an unknown product: ${productId}`);
  });
}

/** Selects the account's rated products, best first, in the order of an index. */
export function selectBestProducts(context: HandlerContext) {
  return selectAccountRows("review_totals", accountOf(context).id, context.transaction)
    .crossJoin("products")
    .select("product_row")
    .where(isRatedProduct)
    .whereRef("products.account_id", "=", "review_totals.account_id")
    .whereRef("products.id", "=", "review_totals.product_row")
    .where("products.blacklisted", "=", 0)
    .orderBy(starAverage, "desc")
    .orderBy(starCount, "desc")
    .orderBy("product_row");
}

/**
 * Assumed: `products_app_id` is the product's row ID; the scores cover only the product's own reviews, even if it is in a
 * group; a missing price is 0, a missing currency or image an empty string.
 */
async function describeProducts(
  rows: readonly number[],
  matching_algorithm: Algorithm,
  context: HandlerContext,
): Promise<Listed["products"]> {
  if (rows.length === 0) return [];
  const { id: accountId, appKey } = accountOf(context);
  const found = await selectAccountRows("products", accountId, context.transaction)
    .leftJoin("review_totals", (join) =>
      join
        .on("review_totals.account_id", "=", accountId)
        .on(sql<boolean>`review_totals.rating_target = 'p' || cast(products.id as text)`),
    )
    .select(["products.id", "product_id", "name", "url", "price", "currency_iso", "image_url", "named_by_visitor"])
    .select([starCount.as("reviews"), starScore.as("score")])
    .where("products.id", "in", rows)
    .execute();
  found.sort((a, b) => rows.indexOf(a.id) - rows.indexOf(b.id));
  const { show } = await openProductView(found, accountId, context);
  return found.map(show).map((product, at) => {
    const totals = { reviews: product.reviews ?? 0, score: product.score ?? 0 };
    return {
      products_app_id: product.id,
      url: product.url,
      price: Number(product.price ?? 0),
      currency: product.currency_iso ?? "",
      type: "Product",
      name: product.name,
      destination_app_key: appKey,
      position: at + 1,
      source_products_app_id: null,
      matching_algorithm,
      domain_key: product.product_id,
      image_title: product.name,
      average_score: averageScore(totals),
      total_review: totals.reviews,
      image: product.image_url ?? "",
    };
  });
}
