import { ServiceError, type ListedReview, type ReviewerType } from "../../contract/index.ts";
import { readOutcomes } from "../../import/check/service-outcomes.ts";
import type { SendResult } from "../../import/outcome.ts";
import type { Service } from "../../service/service.ts";
import type { CallOptions } from "../../service/transport.ts";
import { usageError } from "../../import/import-error.ts";
import type { ItemError, Item } from "../../import/item.ts";
import { readServiceProblem } from "../../import/check/service-errors.ts";
import {
  faceOf,
  nameAsBefore,
  nameReview,
  type NewReview,
  numberName,
  ReviewIndex,
  type ReviewPayload,
} from "./review-index.ts";
import type { ImportOptions } from "../../import/options.ts";
import type { PreparedImport, RecordImporter, RecordKind } from "../../import/kind.ts";
import { reviewLayouts } from "./layouts/index.ts";
import { impliedScale, RatingTally, scales } from "./rating.ts";
import { columnOf, readReview } from "./read-review.ts";
import { reviewSynonyms } from "./synonyms.ts";
import * as comparable from "../../import/verify/comparable.ts";
import { joinKey, type StoredRecord, type StoredRecords } from "../../import/verify/stored-records.ts";
import { listReviews } from "../../service/listings.ts";

export const reviewImporter: RecordImporter = {
  prepare: prepareImport,
  synonyms: reviewSynonyms,
  layouts: reviewLayouts,
};

function prepareImport({ batchSize = 1, ratingScale }: ImportOptions, { fields }: RecordKind): PreparedImport {
  if (batchSize !== 1) {
    throw usageError(`invalid value "${batchSize}" for --batch-size: the service accepts one review per call`);
  }
  const fieldNames = fields.map(({ name }) => name);
  const index = new ReviewIndex();
  const ratings = new RatingTally();
  const scale = scales.find((one) => one === ratingScale);
  let isDatedToday = false;
  return {
    operation: "reviews.createNow",
    // Identical reviews are numbered, so that a simultaneous import of the same file stores none twice.
    keyedBy: "items",
    nameOf: ({ payload }) => {
      const { sku, email, review_title: title } = (payload as ReviewPayload).review;
      return [sku, email, title].map(String).join(" · ");
    },
    storedRecords: storedReviews,

    read: (row, source, reportDropped) => readReview(row, source, { scale, ratings, reportDropped }),

    impliedFields: ({ columnOf: column }) =>
      scale === undefined ? impliedScale(column("review_score")?.values ?? []) : {},

    numberDouble,

    // Identical reviews are never in flight together, so that it is known how many of them arrived.
    writes: ({ key, payload }) => [[(payload as ReviewPayload).names.undated, key]],

    send: async (service, items, options) => {
      for (const { payload, replaces } of items) {
        try {
          const { review } = payload as ReviewPayload;
          if (replaces !== undefined) return await updateReview(service, replaces, review, options);
          const engine = service.engine && ({ inputStage: "checked" } as const);
          const { reviews: created } = await service.reviews.createNow(review, { ...options, engine });
          const storedAs = created[0]?.created_at;
          const isKept = storedAs === undefined || Date.parse(storedAs) === Date.parse(review.past?.created_at ?? "");
          isDatedToday ||= !isKept;
        } catch (error) {
          const problem = asItemError(error, fieldNames);
          if (problem) return { errors: [problem] };
          throw error;
        }
      }
      return { errors: [], outcomes: items.map(() => ({ outcome: "created" })) };
    },

    notices: function* () {
      yield* ratings.notices();
      if (isDatedToday) {
        yield "the service ignores the date of past reviews: they have the time of this import, are published, and may have caused emails";
      }
    },

    readBack: async (service, items, options) => {
      await index.readOn(service, options);
      return items.map(({ payload, replaces }) => {
        // A change may be repeated.
        if (replaces !== undefined) return false;
        const { names, numbers } = payload as ReviewPayload;
        const n = index.keepsTimes ? numbers.dated : numbers.undated;
        return (index.counts.get(index.nameOf(names)) ?? 0) >= n;
      });
    },

    existing: async function* (service, options) {
      for await (const page of index.read(service, options)) {
        yield page.map(({ key, review }) => {
          const { id, sku, email, created_at } = review;
          const [, { values }] = toRecords(review);
          // A service that keeps no times cannot change reviews.
          return index.keepsTimes ? { key, id, versionKey: dateKey(sku, email, created_at), values } : { key };
        });
      }
    },

    isStored: ({ payload }, stored) => {
      const { user_type: type, ...sent } = valuesSent((payload as ReviewPayload).review);
      // A verified author stays verified.
      const user_type = type === anonymous ? undefined : type;
      return [...comparable.compareValues([{ ...sent, user_type }], [stored])].every(({ isSame }) => isSame);
    },
  };
}

function numberDouble(item: Item, count: (name: string) => number) {
  const { names, ...payload } = item.payload as ReviewPayload;
  const numbers = { dated: count(names.dated), undated: count(names.undated) };
  const key = numberName(names.dated, numbers.dated);
  const keys = [names, ...nameAsBefore(faceOf(payload.review))].flatMap(({ dated, undated }) => [
    numberName(dated, numbers.dated),
    numberName(undated, numbers.undated),
  ]);
  const { sku, email, past } = payload.review;
  const versionKey = dateKey(String(sku), email, past?.created_at ?? "");
  return { item: { ...item, key, versionKey, payload: { ...payload, names, numbers } }, keys };
}

const anonymous: ReviewerType = "anonymous";

/** The columns of the fields of a past review; the others have the names of theirs. */
const pastColumns: Readonly<Record<string, string>> = {
  ...columnOf,
  comment_created_at: "comment_date",
  images: "image_urls",
};

/** Updates an earlier version of a review. */
async function updateReview(
  service: Service,
  review_id: number,
  { review_title, review_content, review_score, display_name, user_reference, past }: NewReview,
  options: CallOptions,
): Promise<SendResult> {
  const text = { review_title, review_content, review_score, display_name };
  const { created_at: _time, ...others } = past ?? {};
  const input = { review_id, ...text, user_reference, past: others };
  const { review: _review, ...reported } = await service.reviews.update(input, {
    ...options,
    idempotencyKey: undefined,
  });
  const columns = reported.fields?.map((field) => pastColumns[field] ?? field);
  const outcomes = [{ ...reported, fields: columns }];
  return readOutcomes({ outcomes, errors: [] }, (item, { field, error: reason }) => {
    return { item, field: pastColumns[field] ?? field, code: "refused", reason };
  });
}

/** Converts the refusal of a call, which contains one review, to the error of that review. */
function asItemError(error: unknown, fieldNames: readonly string[]): ItemError | undefined {
  if (!(error instanceof ServiceError) || error.kind !== "invalidParams") return undefined;
  const { message } = error;
  const named = /^(?:Missing )?(\w+)/i.exec(message)?.[1] ?? "";
  const field = columnOf[named] ?? named;
  const isKnown = fieldNames.includes(field);
  return { item: 0, ...readServiceProblem(isKnown ? field : "", message) };
}

/**
 * Reviews are recognized by product, address, title, content, and score. One whose title, content, or score has changed
 * is recognized by product, address, and date.
 */
export const storedReviews: StoredRecords = {
  expected: function* ({ payload, rows }: Item) {
    const { names, numbers, review } = payload as ReviewPayload;
    const { undated: n } = numbers;
    const [row] = rows;
    if (!row) return;
    const sent = { product_id: String(review.sku), email: review.email };
    const { review_title, review_content, review_score, past } = review;
    const written = {
      review_title: comparable.sentText(review_title),
      review_content: comparable.sentText(review_content),
      review_score: comparable.sentText(review_score),
    };
    const key = past?.created_at === undefined ? undefined : dateKey(sent.product_id, review.email, past.created_at);
    yield {
      key: names.undated,
      needs: n,
      of: n,
      row,
      field: "review_content",
      names: sent,
      values: [valuesSent(review)],
      firstUnit: n - 1,
      ...(key !== undefined && { changed: { key, values: { ...written, ...valuesSent(review) } } }),
    };
  },
  list: async function* (service, options) {
    for await (const page of listReviews(service, options)) yield page.flatMap(toRecords);
  },
};

/** Recorded by runs, so it stays as it was. */
function dateKey(productId: string, email: string, date: string): string {
  return joinKey(productId, email.toLowerCase(), String(Date.parse(date)));
}

function valuesSent({ display_name, user_reference, past }: NewReview): comparable.Values {
  return {
    display_name: comparable.sentText(display_name),
    user_reference: comparable.sentText(user_reference),
    date: comparable.sentTime(past?.created_at),
    comment_content: comparable.sentText(past?.comment),
    comment_date: comparable.sentTime(past?.comment_created_at),
    image_urls: comparable.sentText(past?.images?.join(" ")),
    published: comparable.sentText(past?.published),
    user_type: comparable.sentText(past?.reviewer_type),
  };
}

/**
 * A review by each of its keys.
 * Assumed: a service that returns no details ignores the past of a review, and the import has reported that.
 */
function toRecords(review: ListedReview): [StoredRecord, StoredRecord] {
  const { sku, email, title, content, score, published, created_at } = review;
  const isDetailed = published !== undefined;
  const values = {
    display_name: comparable.text(review.name),
    user_reference: isDetailed ? comparable.text(review.user_reference) : undefined,
    date: isDetailed ? comparable.time(created_at) : undefined,
    comment_content: isDetailed ? comparable.text(review.comment ?? null) : undefined,
    comment_date: isDetailed ? comparable.time(review.comment_created_at) : undefined,
    image_urls: comparable.text((review.image_sources ?? review.images)?.join(" ")),
    published: comparable.text(published),
    user_type: isDetailed ? comparable.text(review.reviewer_type) : undefined,
  };
  const written = {
    review_title: comparable.text(title),
    review_content: comparable.text(content),
    review_score: comparable.text(score),
  };
  return [
    { key: nameReview(review).undated, values },
    { key: dateKey(sku, email, created_at), values: { ...written, ...values } },
  ];
}
