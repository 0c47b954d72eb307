import { type contract, coreListLimit, productDetails } from "../../contract/index.ts";
import { requireSecret } from "../accounts/account-secret.ts";
import type { Row } from "../../storage/tables.ts";
import { accountOf, type HandlerContext, type Handlers, operation } from "../kernel/handler.ts";
import { readCursor, writeCursor } from "../kernel/lists/cursor.ts";
import { issueToken } from "../accounts/tokens.ts";

type Product = Row<"products">;

export const coreHandlers: Handlers<typeof contract.core> = {
  /**
   * Issues an access token in exchange for the account secret.
   * @throws ServiceError `unauthorized` if the secret is wrong
   * Source: practice of services of this kind. Assumed: an access token is a utoken and counts toward the account's limit.
   */
  createToken: operation("core.createToken", {
    check: ({ secret }, context) => requireSecret(secret, context),
    run: async ({ secret }, context) => {
      await requireSecret(secret, context);
      return { access_token: await issueToken(context.transaction, accountOf(context).id, context) };
    },
  }),

  /**
   * Lists products, least recently updated first.
   * Source: spec "Core API". Assumed: `X-Service-Token` accepts a utoken; without `limit`, pages have the maximum size;
   * a product that is updated between pages is listed again at the end.
   */
  listProducts: async ({ updated_at_min, limit = coreListLimit, page_info, details }, context) => {
    const size = Math.min(limit, coreListLimit);
    const after = page_info === undefined ? undefined : readPosition(page_info);
    const since = updated_at_min === undefined ? undefined : Date.parse(updated_at_min);
    // One more than the page size, to find out whether there is another page.
    const found = await selectProducts({ after, since }, context)
      .limit(size + 1)
      .execute();
    const page = found.slice(0, size);
    const last = page.at(-1);
    const next_page_info = found.length > size && last ? writeCursor([last.updated_at, last.id]) : null;
    return {
      products: page.map(details === true ? toDetailedProduct : toCoreProduct),
      pagination: { next_page_info, ...(details === true && { last_id: await readLastId(context) }) },
    };
  },
};

async function readLastId(context: HandlerContext): Promise<number> {
  const last = await context.transaction
    .selectFrom("products")
    .select("id")
    .where("account_id", "=", accountOf(context).id)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return last?.id ?? 0;
}

interface Position {
  readonly updated_at: number;
  readonly id: number;
}

function readPosition(page_info: string): Position {
  const [updated_at = 0, id = 0] = readCursor(page_info, 2);
  return { updated_at, id };
}

/** The query for a page; the index `products_by_change` provides its order. */
export function selectProducts(
  { after, since }: { readonly after: Position | undefined; readonly since: number | undefined },
  context: HandlerContext,
) {
  let found = context.transaction
    .selectFrom("products")
    .selectAll()
    .where("account_id", "=", accountOf(context).id)
    .orderBy("updated_at")
    .orderBy("id");
  if (since !== undefined) found = found.where("updated_at", ">=", since);
  if (after === undefined) return found;
  return found.where((eb) => eb(eb.refTuple("updated_at", "id"), ">", eb.tuple(after.updated_at, after.id)));
}

/** Source: spec "Core API" shows no body. Assumed: every stored product is active; its GTINs are its UPC and ISBN. */
export function toCoreProduct(product: Product) {
  return {
    id: product.id,
    external_id: product.product_id,
    name: product.name,
    description: product.description,
    url: product.url,
    image_url: product.image_url,
    price: product.price,
    currency: product.currency_iso,
    brand: product.brand,
    sku: product.sku,
    mpn: product.mpn,
    gtins: [...toGtin("UPC", product.upc), ...toGtin("ISBN", product.isbn)],
    status: "active",
    created_at: new Date(product.created_at).toISOString(),
    updated_at: new Date(product.updated_at).toISOString(),
  };
}

function toGtin(declared_type: string, value: string | null) {
  return value === null ? [] : [{ declared_type, value }];
}

function toDetailedProduct(product: Product) {
  const details = productDetails.map((name) => [name, product[name]] as const);
  return { ...toCoreProduct(product), blacklisted: product.blacklisted === 1, ...Object.fromEntries(details) };
}
