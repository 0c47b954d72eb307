import type { EmailCategory } from "../../../contract/index.ts";
import type { EmailTemplate } from "../../outgoing-email.ts";
import {
  confirmQuestion,
  requestAnswer,
  requestComment,
  notifyOfAnswer,
  notifyOfComment,
  verifyReview,
} from "./messages.ts";
import { requestReviews, requestStoreReview } from "./requests.ts";

const aboutProducts =
  "{% if products.size == 1 %}{{ products[0].name }}{% else %}what you bought at {{ store.name }}{% endif %}";
const bought = "you bought at {{ store.name }}";
const order = "Thank you for your order {{ order_id }} at {{ store.name }}.";

const afterPurchase = requestReviews({
  subject: `How do you like ${aboutProducts}?`,
  opening: `${order} How do you like what you bought?`,
  because: bought,
});

const reminder = requestReviews({
  subject: `A reminder: how do you like ${aboutProducts}?`,
  opening: `Some time ago we asked how you like what you bought at {{ store.name }}. We would still be glad to hear it.`,
  because: bought,
});

const askedByStore = requestReviews({
  subject: `{{ store.name }} would like to know: how is ${aboutProducts}?`,
  opening: `You bought at {{ store.name }}, and we would like to know what you think of it.`,
  because: bought,
});

/**
 * The mails of all categories, as they are where the account has no template of its own.
 * Assumed: all of them; the specification names the categories, and shows no text.
 */
export const builtInTemplates: Readonly<Record<EmailCategory, EmailTemplate>> = {
  map: afterPurchase,
  resend_map: afterPurchase,
  reminder,
  resend_reminder: reminder,
  custom_map: askedByStore,
  resend_custom_map: askedByStore,
  mail_after_service: requestStoreReview({
    subject: "How did {{ store.name }} help you?",
    opening: "Our customer service was in touch with you. How did we do?",
    because: "you were in touch with the customer service of {{ store.name }}",
  }),
  mail_after_invoice: requestStoreReview({
    subject: "How was your order at {{ store.name }}?",
    opening: "Thank you for your payment. How was it to order at {{ store.name }}?",
    because: bought,
  }),
  site_reminder: requestStoreReview({
    subject: "What do you think of {{ store.name }}?",
    opening: "You wanted to tell others what you think of {{ store.name }}. It takes a minute.",
    because: "you began a review at {{ store.name }}",
  }),
  testimonials_request: requestStoreReview({
    subject: "What do you think of {{ store.name }}?",
    opening: "You know {{ store.name }}, and we would like to know what you think of us.",
    because: "you are a customer of {{ store.name }}",
  }),
  anonymous_testimonials_request: verifyReview,
  comment_request: requestComment,
  comment_notification: notifyOfComment,
  question_confirmation: confirmQuestion,
  answer_request_shop_owner: requestAnswer({
    subject: "A question about {{ product_name }}",
    opening: "Somebody has asked about {{ product_name }}:",
    because: "you look after the questions of {{ store.name }}",
  }),
  answer_request_shoppers: requestAnswer({
    subject: "Can you answer a question about {{ product_name }}?",
    opening: "You bought {{ product_name }}, and somebody would like to know something about it:",
    because: bought,
  }),
  answer_notification_shop_owner: notifyOfAnswer({
    subject: "A question about {{ product_name }} has an answer",
    opening: "A question about {{ product_name }} has an answer. The question:",
    because: "you look after the questions of {{ store.name }}",
  }),
  answer_notification_shoppers: notifyOfAnswer({
    subject: "Your question about {{ product_name }} has an answer",
    opening: "Your question about {{ product_name }} has an answer. You asked:",
    because: "you asked a question at {{ store.name }}",
  }),
};
