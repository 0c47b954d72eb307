import { ServiceError } from "../../contract/index.ts";
import { usageError } from "../../import/import-error.ts";
import type { ItemError } from "../../import/item.ts";
import { readServiceProblem } from "../../import/check/service-errors.ts";
import { type NewReview, numberName, ReviewIndex, type ReviewPayload } from "./review-index.ts";
import type { ImportOptions } from "../../import/options.ts";
import type { PreparedImport, RecordImporter, RecordKind } from "../../import/kind.ts";
import { reviewLayouts } from "./layouts/index.ts";
import { impliedScale, RatingTally, scales } from "./rating.ts";
import { columnOf, readReview } from "./read-review.ts";
import { reviewSynonyms } from "./synonyms.ts";
import { storedReviews } from "./verify.ts";

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

    impliedFields: (valuesOf) => (scale === undefined ? impliedScale(valuesOf("review_score")) : {}),

    numberDouble: (item, count) => {
      const { names, ...payload } = item.payload as ReviewPayload;
      const numbers = { dated: count(names.dated), undated: count(names.undated) };
      const key = numberName(names.dated, numbers.dated);
      const keys = [key, numberName(names.undated, numbers.undated)];
      return { item: { ...item, key, payload: { ...payload, names, numbers } }, keys };
    },

    // Identical reviews are never in flight together, so that it is known how many of them arrived.
    writes: ({ key, payload }) => [[(payload as ReviewPayload).names.undated, key]],

    send: async (service, items, options) => {
      for (const { payload } of items) {
        try {
          const { review } = payload as ReviewPayload;
          const { reviews: created } = await service.reviews.createNow(review, {
            ...options,
            engine: { isChecked: true },
          });
          isDatedToday ||= !isDatedAs(created[0]?.created_at, review);
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
      return items.map(({ payload }) => {
        const { names, numbers } = payload as ReviewPayload;
        const n = index.keepsTimes ? numbers.dated : numbers.undated;
        return index.countOf(index.nameOf(names)) >= n;
      });
    },

    existingKeys: async (service, options) => {
      await index.readOn(service, options);
      return [...index.counts()].flatMap(([name, count]) =>
        Array.from({ length: count }, (_, at) => numberName(name, at + 1)),
      );
    },
  };
}

function isDatedAs(created_at: string | undefined, { past }: NewReview): boolean {
  return created_at === undefined || Date.parse(created_at) === Date.parse(past?.created_at ?? "");
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
