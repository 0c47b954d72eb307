import * as z from "zod";
import { emailRecord } from "../emails/emails.ts";
import { customerSuppressions } from "../emails/events.ts";
import { reviewErasures } from "./review-erasures.ts";
import { endpoint, extensionPrefix, route } from "../endpoint.ts";
import { idPaging, nextPage } from "../lists/filters.ts";
import { lazily } from "../lazily.ts";
import { partOfText, searchPage } from "../lists/filters.ts";
import { lazyObject } from "../lazy-object.ts";
import { personalOrderFields } from "../record-fields.ts";
import { sameSchema } from "../record-schema.ts";
import { reviewStates } from "../reviews/shapes.ts";
import { shape, timestamp } from "../shapes.ts";

const id = lazily(() => z.number().int());
const text = lazily(() => z.string());
/** A product ID as the store knows it; null for the store itself, or a complete order. */
const productId = lazily(() => z.string().nullable());

const orderRecord = lazyObject(() => ({
  order_id: text(),
  order_date: timestamp(),
  platform: text(),
  customer_name: text(),
  email: text(),
  ...sameSchema(personalOrderFields, z.string().nullable()),
  created_at: timestamp(),
  products: z.array(z.object({ product_id: text(), name: text(), quantity: id(), price: text().nullable() })),
}));

const reviewRecord = lazyObject(() => ({
  id: id(),
  product_id: productId(),
  display_name: text(),
  score: id(),
  title: text(),
  content: text(),
  /** The store's comment. */
  comment: text().nullable(),
  reviewer_type: text(),
  state: z.enum(reviewStates),
  user_reference: text().nullable(),
  images: id(),
  created_at: timestamp(),
}));

const questionRecord = lazyObject(() => ({
  id: id(),
  product_id: text(),
  display_name: text(),
  content: text(),
  /** `pending` until the customer confirms it. */
  state: text(),
  answers: id(),
  created_at: timestamp(),
}));

const answerRecord = lazyObject(() => ({
  id: id(),
  question_id: id(),
  product_id: text(),
  display_name: text(),
  content: text(),
  created_at: timestamp(),
}));

/** What the service stores about a customer, newest first. */
const customerFields = lazily(() => ({
  email: text(),
  /** Every name under which the customer appears. */
  names: z.array(text()),
  orders: z.array(orderRecord()),
  reviews: z.array(reviewRecord()),
  questions: z.array(questionRecord()),
  answers: z.array(answerRecord()),
  mails: z.array(emailRecord()),
  unsubscribed: z.array(z.object({ email_type_id: id(), email_type: text(), by: text(), created_at: timestamp() })),
  suppressed: z.array(z.object({ kind: z.enum(customerSuppressions), created_at: timestamp() })),
  /** Order lines that were skipped because of their product ID. */
  missed_products: z.array(
    z.object({ order_id: text(), product_id: text(), name: text(), customer_name: text(), created_at: timestamp() }),
  ),
  /** Unique coupon codes that were issued to the customer. */
  coupons: z.array(z.object({ code: text(), coupon_action: text(), issued_at: timestamp() })),
}));

/** The fields of an event in the history of a review or a question. */
const historyFields = lazily(() => ({
  event: text(),
  by: text(),
  reason: text().nullable(),
  previous_content: text().nullable(),
  created_at: timestamp(),
}));

/** Everything else that is stored: contents, histories, and copies in emails and events. */
const exportedFields = lazily(() => ({
  images: z.array(
    z.object({ id: id(), review_id: id(), content_type: text(), base64: text(), url: text().nullable() }),
  ),
  review_events: z.array(
    z.object({
      review_id: id(),
      ...historyFields(),
    }),
  ),
  /** What happened to the customer's questions and answers, including those that were deleted. */
  question_events: z.array(
    z.object({
      question_id: id(),
      /** Null if the event concerns the question. */
      answer_id: id().nullable(),
      ...historyFields(),
    }),
  ),
  /** Answers of others to the customer's questions. */
  answers_to_questions: z.array(z.object({ id: id(), question_id: id(), content: text(), created_at: timestamp() })),
  mail_contents: z.array(
    z.object({
      mail_id: id(),
      /** False for emails to others that quote the customer. */
      is_to_customer: z.boolean(),
      /** The data of the template. */
      data: z.record(z.string(), z.unknown()),
      /** As it was sent; null if it was not, or is no longer stored. */
      message: z.object({ subject: text(), headers: text(), text: text(), html: text() }).nullable(),
      events: z.array(z.object({ event: text(), detail: text().nullable(), occurred_at: timestamp() })),
    }),
  ),
  webhook_deliveries: z.array(
    z.object({ id: id(), event_name: text(), state: text(), created_at: timestamp(), body: text() }),
  ),
  /** Other texts that contain the address, such as responses of mail servers. */
  mentions: z.array(z.object({ place: text(), text: text() })),
}));

const customer = lazily(() => z.object(customerFields()));
export type Customer = z.output<ReturnType<typeof customer>>;
const exportedParts = lazily(() => z.object(exportedFields()));
export type ExportedParts = z.output<ReturnType<typeof exportedParts>>;

/** The numbers of records that an erasure changes or deletes. */
const erasedCounts = lazyObject(() => ({
  orders: id(),
  reviews: id(),
  images: id(),
  questions: id(),
  /** Those of the customer, and all answers to the customer's questions. */
  answers: id(),
  mails: id(),
  /** Emails that had not been sent. */
  canceled_mails: id(),
  /** Emails to others about the customer's texts. */
  mails_to_others: id(),
  unsubscriptions: id(),
  suppressions: id(),
  missed_products: id(),
  coupons: id(),
  webhook_deliveries: id(),
  /** Results of calls with an idempotency key. */
  stored_results: id(),
  /** Other texts that contained the address. */
  mentions: id(),
}));
export type ErasedCounts = z.output<ReturnType<typeof erasedCounts>>;

/** The record of an erasure. It contains no personal data. */
const erasure = lazyObject(() => ({
  id: id(),
  created_at: timestamp(),
  reviews: z.enum(reviewErasures),
  counts: erasedCounts(),
}));

/** A customer, with the newest record that was found. */
const foundCustomer = lazyObject(() => ({
  email: text(),
  /** Empty if the address is only that of an unsubscriber. */
  name: text(),
  /** Null if no order was found. */
  order_id: text().nullable(),
  created_at: timestamp(),
}));
export type FoundCustomer = z.output<ReturnType<typeof foundCustomer>>;

const erasureInput = lazyObject(() => ({
  email: shape.email,
  reviews: z.enum(reviewErasures, { error: `must be one of ${reviewErasures.join(", ")}` }).optional(),
}));

/** Page size of the list of erasures. */
export const erasurePage = { default: 100, max: 1_000 } as const;

const path = `${extensionPrefix}/apps/{app_key}/customers`;
export const customers = {
  get: endpoint({
    summary: "Show what is stored about a customer",
    ...route("GET", path),
    effect: "read",
    input: () => ({ email: shape.email }),
    output: () => ({ customer: customer() }),
  }),
  find: endpoint({
    summary: "Find customers by part of a name, an address, or an order ID",
    listing: { items: "customers", size: { field: "limit", max: searchPage.max } },
    ...route("GET", `${path}/search`),
    effect: "read",
    input: () => ({ search: partOfText(), limit: shape.page.optional() }),
    output: () => ({ customers: z.array(foundCustomer()) }),
  }),
  export: endpoint({
    summary: "Export everything that is stored about a customer",
    ...route("GET", `${path}/export`),
    effect: "read",
    roles: ["support", "read-only"],
    // Emails contain links that act on behalf of their recipient.
    returnsSecret: true,
    input: () => ({ email: shape.email }),
    output: () => ({ export: z.object({ ...customerFields(), ...exportedFields() }) }),
  }),
  planErasure: endpoint({
    summary: "Count what the erasure of a customer's data would change",
    ...route("GET", `${path}/erasure_plan`),
    effect: "read",
    input: () => erasureInput(),
    output: () => ({ plan: z.object({ reviews: z.enum(reviewErasures), counts: erasedCounts() }) }),
  }),
  erase: endpoint({
    summary: "Erase a customer's data",
    destroys: { question: "All data of {email} is erased", typed: "email" },
    ...route("POST", `${path}/erasures`),
    effect: "repeatable",
    input: () => erasureInput(),
    output: () => ({
      erasure: erasure(),
      /** Whether the remains of deleted rows were removed from the database; false if other processes prevented that. */
      removed: z.boolean(),
    }),
  }),
  erasures: endpoint({
    summary: "List erasures of customers' data, newest first (oldest first with `since_id`)",
    listing: {
      items: "erasures",
      by: "page_info",
      size: { field: "count", max: erasurePage.max },
    },
    ...route("GET", `${path}/erasures`),
    effect: "read",
    input: () => idPaging(),
    output: () => ({ erasures: z.array(erasure()), pagination: nextPage() }),
  }),
};
