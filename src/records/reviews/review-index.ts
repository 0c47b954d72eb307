import { emailKeyOf, type ListedReview } from "../../contract/index.ts";
import { listReviews } from "../../service/listings.ts";
import type { Service } from "../../service/service.ts";
import type { CallOptions } from "../../service/transport.ts";
import { hash } from "node:crypto";

/** Counts the reviews of each name on the service; continues reading where it left off. */
export class ReviewIndex {
  readonly counts = new Map<string, number>();
  #lastId = 0;
  #reading: Promise<void> = Promise.resolve();
  /** Whether the service keeps the timestamps of reviews, as one that returns their details does. */
  keepsTimes = true;

  /** Reads the reviews since the last time; concurrent reads run one after the other. */
  async readOn(service: Pick<Service, "reviews">, options: CallOptions): Promise<void> {
    const read = async () => {
      for await (const _ of this.read(service, options));
    };
    this.#reading = this.#reading.catch(() => {}).then(read);
    await this.#reading;
  }

  /** Yields the reviews since the last time with their keys. */
  async *read(service: Pick<Service, "reviews">, options: CallOptions) {
    for await (const page of listReviews(service, options, this.#lastId)) {
      yield page.map((review) => {
        if (review.published === undefined) this.keepsTimes = false;
        const name = this.nameOf(nameReview(review));
        const count = (this.counts.get(name) ?? 0) + 1;
        this.counts.set(name, count);
        this.#lastId = Math.max(this.#lastId, review.id);
        return { key: numberName(name, count), review };
      });
    }
  }

  /** The name by which a review can be recognized. */
  nameOf({ dated, undated }: ReviewNames): string {
    return this.keepsTimes ? dated : undated;
  }
}

/** What distinguishes a review from others. */
type ReviewFace = Pick<ListedReview, "sku" | "email" | "title" | "content" | "score" | "created_at">;

/** Two names of a review: with its timestamp, and without, for a service that sets the timestamp itself. */
export interface ReviewNames {
  readonly dated: string;
  readonly undated: string;
}

export type NewReview = Parameters<Service["reviews"]["createNow"]>[0];

/** What an import knows about a review. */
export interface ReviewPayload {
  readonly review: NewReview;
  readonly names: ReviewNames;
  /** The ordinal of the review among those with its names, from 1. */
  readonly numbers: { readonly dated: number; readonly undated: number };
}

/**
 * Assumed: surrounding whitespace, the type of line breaks, and the spelling of the address do not distinguish reviews.
 */
export function nameReview(
  { sku, email, title, content, score, created_at }: ReviewFace,
  addressKey = emailKeyOf(email),
): ReviewNames {
  const asText = (text: string) => text.trim().replaceAll(/\r\n?/g, "\n");
  const identity = [sku, addressKey, asText(title), asText(content), score];
  const undated = hash("sha256", JSON.stringify(identity), "base64url").slice(0, 27);
  return { dated: `${undated}@${created_at}`, undated };
}

/** What distinguishes a review that is to be sent. */
export function faceOf({ sku, email, review_title, review_content, review_score, past }: NewReview): ReviewFace {
  return {
    sku: String(sku),
    email,
    title: String(review_title),
    content: String(review_content),
    score: Number(review_score),
    created_at: past?.created_at ?? "",
  };
}

/** The names that earlier versions gave a review, which a run that they began has recorded, if they differ. */
export function nameAsBefore(review: ReviewFace): readonly ReviewNames[] {
  const lower = review.email.toLowerCase();
  return lower === emailKeyOf(review.email) ? [] : [nameReview(review, lower)];
}

/** The nth review of a name, from 1: the same person may write the same review twice. */
export function numberName(name: string, n: number): string {
  return `${name}#${n}`;
}
