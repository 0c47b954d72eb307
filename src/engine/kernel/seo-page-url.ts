import { extensionPrefix } from "../../contract/index.ts";

/** The URL of a product's review page, or of the store's if no product is specified. */
export function seoPageUrl({
  publicUrl,
  appKey,
  productId,
}: {
  readonly publicUrl: string;
  readonly appKey: string;
  readonly productId?: string | undefined;
}): string {
  const page = `${publicUrl}${extensionPrefix}/pages/${encodeURIComponent(appKey)}/products`;
  return productId === undefined ? page : `${page}/${encodeURIComponent(productId)}`;
}
