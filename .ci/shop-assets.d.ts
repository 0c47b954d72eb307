/** Writes the module `src/shop/assets.ts`. @param previousFolder the files of earlier versions */
export function writeShopAssets(
  catalogs: Readonly<Record<string, Readonly<Record<string, string>>>>,
  previousFolder?: string,
): Promise<string>;
