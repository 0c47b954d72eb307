import { breakLinks } from "../../contract/index.ts";
import type { Row } from "../../storage/tables.ts";
import { isStoreUrl, readStoreDomains } from "../accounts/account-profile.ts";
import { updateRows } from "../kernel/account-rows.ts";
import type { HandlerContext } from "../kernel/handler.ts";

/** Who has named a product: the values of `named_by_visitor`. */
export const namedBy = {
  store: 0,
  /** Only visitors have named the product. */
  visitor: 1,
  /** A visitor has named the product, and the store has published a review of it. Its domain is not the store's. */
  confirmedVisitor: 2,
} as const;

type ViewedProduct = Pick<Row<"products">, "named_by_visitor" | "name" | "url"> &
  Partial<Pick<Row<"products">, "image_url" | "description" | "product_tags">>;

/** What others see of products, and of what visitors write about them. */
interface ProductView {
  readonly show: <P extends ViewedProduct>(product: P) => P;
  /** Why what a visitor writes about a product needs the store's approval, or undefined. */
  readonly findHold: (product: ViewedProduct) => string | undefined;
}

/**
 * Opens the view of products for everybody but the store.
 * Assumed: of a product that only visitors have named, only URLs on the store's domains are shown, and no description or
 * tags; its title contains no links.
 */
export async function openProductView(
  products: readonly ViewedProduct[],
  accountId: number,
  context: Pick<HandlerContext, "transaction">,
): Promise<ProductView> {
  const isByVisitor = ({ named_by_visitor }: ViewedProduct) => named_by_visitor === namedBy.visitor;
  if (!products.some(isByVisitor)) return { show: (product) => product, findHold: () => undefined };
  const domains = await readStoreDomains(context, accountId);
  const isShown = (url: string) => isStoreUrl(url, domains);
  return {
    show: (product) => {
      if (!isByVisitor(product)) return product;
      const { name, url, image_url } = product;
      return {
        ...product,
        name: breakLinks(name),
        url: isShown(url) ? url : "",
        image_url: image_url && isShown(image_url) ? image_url : null,
        description: null,
        product_tags: null,
      };
    },
    findHold: (product) => {
      if (!isByVisitor(product)) return undefined;
      if (breakLinks(product.name) !== product.name) return "the title of the product contains a link";
      if (isShown(product.url)) return undefined;
      const link = URL.canParse(product.url) ? `, whose link leads to ${new URL(product.url).host}` : "";
      return `the store has not confirmed the product${link}`;
    },
  };
}

/** The reason for which a visitor's text about a product is held, where anyone can reach the service. */
export async function findHeldProduct(
  product: ViewedProduct,
  accountId: number,
  context: Pick<HandlerContext, "transaction" | "hasPublicLimits">,
): Promise<string | undefined> {
  if (context.hasPublicLimits !== true) return undefined;
  return (await openProductView([product], accountId, context)).findHold(product);
}

/** Confirms what a visitor has stated about a product, because the store has published a review of it. */
export async function confirmProduct(id: number, accountId: number, context: HandlerContext): Promise<void> {
  const named = { account_id: accountId, id, named_by_visitor: namedBy.visitor };
  await updateRows("products", { named_by_visitor: namedBy.confirmedVisitor }, named, context);
}
