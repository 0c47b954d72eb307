import { createHash } from "node:crypto";

/** What distinguishes a review from others. */
export interface ReviewFace {
  readonly sku: string;
  readonly email: string;
  readonly title: string;
  readonly content: string;
  readonly score: number;
  /** ISO 8601, UTC. */
  readonly created_at: string;
}

/** Two names of a review: with its timestamp, and without, for a service that sets the timestamp itself. */
export interface ReviewNames {
  readonly dated: string;
  readonly undated: string;
}

/**
 * Assumed: surrounding whitespace, the type of line breaks, and the case of the address do not distinguish reviews.
 */
export function nameReview({ sku, email, title, content, score, created_at }: ReviewFace): ReviewNames {
  const said = [sku, email.toLowerCase(), asText(title), asText(content), score];
  const undated = createHash("sha256").update(JSON.stringify(said)).digest("base64url").slice(0, 27);
  return { dated: `${undated}@${created_at}`, undated };
}

function asText(text: string): string {
  return text.trim().replaceAll(/\r\n?/g, "\n");
}

/** The nth review of a name, from 1: the same person may write the same review twice. */
export function numberName(name: string, n: number): string {
  return `${name}#${n}`;
}
