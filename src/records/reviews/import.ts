import { contract, reviewerTypes, ServiceError, type ReviewerType } from "../../contract/index.ts";
import { usageError } from "../../import/import-error.ts";
import { readBoolean, readTime } from "../../import/check/date.ts";
import { describeIssues, lastOf, readProductId } from "../../import/check/fields.ts";
import type { Item, ItemError, ReportDropped, RowError, RowView } from "../../import/item.ts";
import { readServiceProblem } from "../../import/check/service-errors.ts";
import { nameReview, type NewReview, numberName, ReviewIndex, type ReviewPayload } from "./review-index.ts";
import type { ImportOptions } from "../../import/options.ts";
import type { PreparedImport, RecordImporter, RecordKind } from "../../import/kind.ts";
import { reviewSynonyms } from "./synonyms.ts";
import { storedReviews } from "./verify.ts";

const shape = contract.reviews.createNow.input;

/** The columns of fields with a different name on the wire. */
const columnOf: Readonly<Record<string, string>> = {
  sku: "product_id",
  created_at: "date",
  comment: "comment_content",
  reviewer_type: "user_type",
};

const fieldOf = (path: readonly PropertyKey[]) => columnOf[lastOf(path)] ?? lastOf(path);

export const reviewImporter: RecordImporter = {
  prepare: prepareImport,
  synonyms: reviewSynonyms,
};

function prepareImport({ batchSize = 1 }: ImportOptions, { fields }: RecordKind): PreparedImport {
  if (batchSize !== 1) {
    throw usageError(`invalid value "${batchSize}" for --batch-size: the service accepts one review per call`);
  }
  const fieldNames = fields.map(({ name }) => name);
  const index = new ReviewIndex();
  let isDatedToday = false;
  return {
    operation: "reviews.createNow",
    dateField: "date",
    // Identical reviews are numbered, so that a simultaneous import of the same file stores none twice.
    keyedBy: "items",
    nameOf: ({ payload }) => {
      const { sku, email, review_title: title } = (payload as ReviewPayload).review;
      return [sku, email, title].map(String).join(" · ");
    },
    storedRecords: storedReviews,

    read: readReview,

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
          const { reviews: created } = await service.reviews.createNow(review, options);
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

function readReview(
  row: RowView,
  source: Item["rows"][number],
  reportDropped: ReportDropped,
): Item | readonly RowError[] {
  const problems: RowError[] = [];
  const sku = readProductId(row, problems);
  const published = readBoolean(row, "published", problems);
  const time = row("date");
  const type = readReviewerType(row, reportDropped);
  const given = (field: string) => row(field) || undefined;
  const review = {
    sku,
    // A service that already has the product keeps its name.
    product_title: given("product_title") ?? sku,
    product_url: given("product_url"),
    product_description: given("product_description"),
    product_image_url: given("product_image_url"),
    display_name: given("display_name"),
    email: given("email"),
    review_title: given("review_title"),
    review_content: given("review_content"),
    review_score: given("review_score")?.replace(/[.,]0+$/, ""),
    user_reference: given("user_reference"),
    past: {
      created_at: time === "" ? undefined : (readTime(time) ?? time),
      comment: given("comment_content"),
      ...(published === undefined ? {} : { published }),
      ...(type === undefined ? {} : { reviewer_type: type }),
    },
  };
  const parsed = shape.safeParse(review);
  if (!parsed.success) {
    const found = describeIssues(parsed.error.issues, fieldOf).map(nameScore);
    // An invalid product ID has been reported already.
    problems.push(...found.filter(({ field }) => !problems.some((other) => other.field === field)));
  }
  if (!parsed.success || problems.length > 0) return problems;
  return toItem(parsed.data, source);
}

function toItem(review: NewReview, source: Item["rows"][number]): Item {
  const names = nameReview({
    sku: String(review.sku),
    email: review.email,
    title: String(review.review_title),
    content: String(review.review_content),
    score: Number(review.review_score),
    created_at: review.past?.created_at ?? "",
  });
  const payload: ReviewPayload = { review, names, numbers: { dated: 1, undated: 1 } };
  const size = JSON.stringify(review).length;
  return { key: names.dated, batchKey: "", rows: [source], size, payload };
}

function isDatedAs(created_at: string | undefined, { past }: NewReview): boolean {
  return created_at === undefined || Date.parse(created_at) === Date.parse(past?.created_at ?? "");
}

/** `Verified Buyer` means `verified_buyer`. Unknown values are dropped. */
function readReviewerType(row: RowView, reportDropped: ReportDropped): ReviewerType | undefined {
  const value = row("user_type");
  if (value === "") return undefined;
  const name = value.toLowerCase().replaceAll(/[\s-]+/g, "_");
  const known = reviewerTypes.find((type) => type === name);
  if (known === undefined) reportDropped("user_type", `is not one of ${reviewerTypes.join(", ")}`);
  return known;
}

/** Scores have a single code for all errors except missing ones. */
function nameScore(problem: RowError): RowError {
  const isScore = problem.field === "review_score" && problem.code !== "missing";
  return isScore ? { ...problem, code: "bad_score" } : problem;
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
