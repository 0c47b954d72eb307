import { createHash } from "node:crypto";

/** What tells a review from others. */
export interface ReviewFace {
  readonly sku: string;
  readonly email: string;
  readonly title: string;
  readonly content: string;
  readonly score: number;
  /** ISO 8601, UTC. */
  readonly created_at: string;
}

/** Two names of a review: with its time, and without, for a service that dates reviews itself. */
export interface ReviewNames {
  readonly dated: string;
  readonly undated: string;
}

/** Assumed: blanks at the ends, the kind of line end and the case of the address make no other review. */
export function nameReview({ sku, email, title, content, score, created_at }: ReviewFace): ReviewNames {
  const said = [sku, email.toLowerCase(), asText(title), asText(content), score];
  const undated = createHash("sha256").update(JSON.stringify(said)).digest("base64url").slice(0, 27);
  return { dated: `${undated}@${created_at}`, undated };
}

function asText(text: string): string {
  return text.trim().replaceAll(/\r\n?/g, "\n");
}

/** The n-th review of a name, from 1: the same person may say the same twice. */
export function numberName(name: string, n: number): string {
  return `${name}#${n}`;
}
