import { extensionPrefix } from "../../contract/index.ts";

/** The address of a product's page of reviews, or of the store's where no product is named. */
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
