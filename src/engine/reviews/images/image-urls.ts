import { extensionPrefix } from "../../../contract/index.ts";

/** Where an image of a review is read. Assumed: an image is kept as it came; its small form is the same. */
export function imageUrls(imageId: number, publicUrl: string) {
  const original_url = `${publicUrl}${extensionPrefix}/images/${imageId}`;
  return { thumb_url: original_url, original_url };
}
