import type { KindName } from "../import/types.ts";
import { bigcommerceOrders } from "./orders/layouts/bigcommerce.ts";
import { bigcommerceProducts } from "./products/layouts/bigcommerce.ts";
import { catalogue } from "./products/layouts/catalog.ts";
import type { Layout } from "../import/layouts/layout.ts";
import { magentoOrders } from "./orders/layouts/magento.ts";
import { magentoProducts } from "./products/layouts/magento.ts";
import { shopifyOrders } from "./orders/layouts/shopify.ts";
import { shopifyProducts, shopifyVariants } from "./products/layouts/shopify.ts";
import { woocommerceOrders } from "./orders/layouts/woocommerce.ts";
import { woocommerceProducts } from "./products/layouts/woocommerce.ts";

const known: readonly Layout[] = [
  catalogue,
  shopifyOrders,
  shopifyProducts,
  shopifyVariants,
  woocommerceOrders,
  woocommerceProducts,
  magentoOrders,
  magentoProducts,
  bigcommerceOrders,
  bigcommerceProducts,
];

/** Every layout that is known beside our own columns, which need none. */
export const layouts: readonly Layout[] = known.flatMap(withDateOrders);

/** Where a file's dates may not tell the order of day and month, a person can. */
function withDateOrders(layout: Layout): readonly Layout[] {
  if (layout.dateOrder !== "found") return [layout];
  return [
    layout,
    { ...layout, name: `${layout.name}-dmy`, signatures: [], dateOrder: "day-first" },
    { ...layout, name: `${layout.name}-mdy`, signatures: [], dateOrder: "month-first" },
  ];
}

/** The names that `--layout` takes for our own columns. */
export const nativeNames = ["none", "native"] as const;

/** Header names are compared without regard to case, spaces, `_` and `-`. */
export function normaliseName(name: string): string {
  return name.toLowerCase().replace(/[\s_-]+/g, "");
}

/** The layout that a header is of: of several, the one of which it has the most columns. */
export function recogniseLayout(header: readonly string[], kind: KindName): Layout | undefined {
  const names = new Set(header.map(normaliseName));
  let best: { readonly layout: Layout; readonly columns: number } | undefined;
  for (const layout of layouts.filter((one) => one.kind === kind)) {
    for (const signature of layout.signatures) {
      const isThere = signature.every((column) => names.has(normaliseName(column)));
      if (isThere && signature.length > (best?.columns ?? 0)) best = { layout, columns: signature.length };
    }
  }
  return best?.layout;
}
