/**
 * What an erasure does with the customer's reviews.
 * - `anonymize`: removes the author, the texts, the images, and the store's comment. The score, the product, the date, and
 *   the type of the reviewer stay, so that ratings do not change.
 * - `delete`: deletes the reviews, so that they no longer count.
 */
export const reviewErasures = ["anonymize", "delete"] as const;
export type ReviewErasure = (typeof reviewErasures)[number];
