import { account, tokens, users } from "./account.ts";
import { messages } from "./brand/messages.ts";
import { brand } from "./brand/operations.ts";
import { batch, seo } from "./seo.ts";
import { campaigns } from "./emails/campaigns.ts";
import { core } from "./core.ts";
import { coupons } from "./coupons.ts";
import { credentials } from "./credentials.ts";
import { myReviews } from "./customers/my-reviews.ts";
import { customers } from "./customers/customers.ts";
import type { Endpoint } from "./endpoint.ts";
import { forms } from "./storefront/forms.ts";
import { groups } from "./groups.ts";
import { images } from "./reviews/images.ts";
import { links, tracking } from "./emails/links.ts";
import { emailEvents, emailSuppressions } from "./emails/events.ts";
import { emailRules } from "./emails/rules.ts";
import { emailTemplates } from "./emails/templates.ts";
import { emails } from "./emails/emails.ts";
import { orderSearch } from "./lists/order-search.ts";
import { answers, questions } from "./questions/questions.ts";
import { storefront } from "./storefront/storefront.ts";
import { unsubscribers } from "./unsubscribers.ts";
import { orders } from "./orders.ts";
import { products } from "./products.ts";
import { answerRequests } from "./questions/answer-requests.ts";
import { reviewRequests } from "./reviews/requests.ts";
import { reviewModeration, reviewRules } from "./reviews/moderation.ts";
import { reviewReading } from "./reviews/reading.ts";
import { reviewWriting } from "./reviews/writing.ts";
import { webhookDeliveries, webhooks } from "./webhooks/webhooks.ts";

/** The complete service: group, then verb, then the declared operation. Everything else is derived from it. */
export const contract = {
  account,
  answerRequests,
  answers,
  batch,
  brand,
  campaigns,
  core,
  coupons,
  credentials,
  customers,
  forms,
  groups,
  images,
  links,
  emailRules,
  emailEvents,
  emailSuppressions,
  emailTemplates,
  emails,
  messages,
  myReviews,
  orders: { ...orders, ...orderSearch },
  products,
  questions,
  reviewRequests,
  reviewRules,
  reviews: { ...reviewReading, ...reviewWriting, ...reviewModeration },
  seo,
  storefront,
  tokens,
  tracking,
  unsubscribers,
  users,
  webhookDeliveries,
  webhooks,
};

export type Contract = typeof contract;
export type GroupName = keyof Contract;

/** The name of an operation, such as `products.massCreate`. */
export type OperationName = {
  [G in GroupName]: `${G}.${Extract<keyof Contract[G], string>}`;
}[GroupName];

/** The declared operation named `N`. */
export type EndpointOf<N extends OperationName> = N extends `${infer G extends GroupName}.${infer V}`
  ? V extends keyof Contract[G]
    ? Contract[G][V]
    : never
  : never;

export const operations: ReadonlyMap<OperationName, Endpoint> = new Map(
  Object.entries(contract).flatMap(([group, verbs]) =>
    Object.entries(verbs).map(([verb, declared]): [OperationName, Endpoint] => [
      `${group}.${verb}` as OperationName,
      declared,
    ]),
  ),
);

export function endpointOf(name: OperationName): Endpoint {
  const found = operations.get(name);
  if (!found) throw new Error(`unknown operation ${name}`);
  return found;
}

export * from "./account.ts";
export * from "./brand/brand.ts";
export * from "./brand/language-match.ts";
export * from "./brand/operations.ts";
export * from "./seo.ts";
export * from "./core.ts";
export * from "./coupons.ts";
export * from "./credentials.ts";
export * from "./customers/customers.ts";
export * from "./customers/my-reviews.ts";
export * from "./customers/review-erasures.ts";
export * from "./email-address.ts";
export * from "./endpoint.ts";
export * from "./errors.ts";
export * from "./lists/filters.ts";
export * from "./lists/order-search.ts";
export * from "./questions/answer-requests.ts";
export * from "./questions/questions.ts";
export * from "./groups.ts";
export * from "./http-limits.ts";
export * from "./reviews/images.ts";
export * from "./emails/campaigns.ts";
export * from "./emails/links.ts";
export * from "./emails/events.ts";
export * from "./emails/categories.ts";
export * from "./emails/rules.ts";
export * from "./emails/sending.ts";
export * from "./emails/templates.ts";
export * from "./emails/type-names.ts";
export * from "./emails/emails.ts";
export * from "./json-text.ts";
export * from "./orders.ts";
export * from "./outcomes.ts";
export * from "./people.ts";
export * from "./price.ts";
export * from "./products.ts";
export * from "./public-text.ts";
export * from "./record-fields.ts";
export * from "./reply.ts";
export * from "./reviews/bottom-lines-delay.ts";
export * from "./reviews/moderation.ts";
export * from "./reviews/requests.ts";
export * from "./reviews/shapes.ts";
export { isSurelyPastReview } from "./reviews/writing.ts";
export * from "./shapes.ts";
export * from "./storefront/forms.ts";
export * from "./storefront/limits.ts";
export * from "./storefront/storefront.ts";
export * from "./unsubscribers.ts";
export * from "./webhooks/webhooks.ts";
