import type { EmailCategory } from "../../../contract/index.ts";
import type { EmailTemplate } from "../../outgoing-email.ts";
import {
  confirmQuestion,
  notifyOfAnswer,
  notifyOfComment,
  requestAnswer,
  requestComment,
  verifyReview,
} from "./messages.ts";
import { frame, isolate } from "./frame.ts";

const testNotice = "This is a test email. Reviews written from it are not saved.";
const orderedProducts =
  "{% if products.size == 1 %}{{ products[0].name }}{% else %}your order from {{ store.name }}{% endif %}";
const bought = "you bought something from {{ store.name }}";
const order = "Thank you for your order {{ order_id }} from {{ store.name }}.";

const afterPurchase = requestReviews({
  subject: `How do you like ${orderedProducts}?`,
  opening: `${order} How do you like it?`,
  because: bought,
});

const reminder = requestReviews({
  subject: `Reminder: how do you like ${orderedProducts}?`,
  opening: `We recently asked how you like your order from {{ store.name }}. We would still love to hear from you.`,
  because: bought,
});

const askedByStore = requestReviews({
  subject: `{{ store.name }} would like to know: how do you like ${orderedProducts}?`,
  opening: `Thank you for shopping at {{ store.name }}. We would love to know what you think of your order.`,
  because: bought,
});

/**
 * The built-in templates of all categories.
 * Assumed: all texts; the specification only names the categories.
 */
export const builtInTemplates: Readonly<Record<EmailCategory, EmailTemplate>> = {
  map: afterPurchase,
  resend_map: afterPurchase,
  reminder,
  resend_reminder: reminder,
  custom_map: askedByStore,
  resend_custom_map: askedByStore,
  mail_after_service: requestStoreReview({
    subject: "How was your experience with {{ store.name }}?",
    opening: "You recently contacted our customer service. How did we do?",
    because: "you contacted the customer service of {{ store.name }}",
  }),
  mail_after_invoice: requestStoreReview({
    subject: "How was your order from {{ store.name }}?",
    opening: "Thank you for your payment. How was your experience ordering from {{ store.name }}?",
    because: bought,
  }),
  site_reminder: requestStoreReview({
    subject: "What do you think of {{ store.name }}?",
    opening: "You started a review of {{ store.name }}. It only takes a minute to finish.",
    because: "you started a review of {{ store.name }}",
  }),
  testimonials_request: requestStoreReview({
    subject: "What do you think of {{ store.name }}?",
    opening: "As a customer of {{ store.name }}, would you share your experience with us?",
    because: "you are a customer of {{ store.name }}",
  }),
  anonymous_testimonials_request: verifyReview,
  comment_request: requestComment,
  comment_notification: notifyOfComment,
  question_confirmation: confirmQuestion,
  answer_request_shop_owner: requestAnswer({
    subject: "New question about {{ product_name }}",
    opening: "A customer asked a question about {{ product_name }}:",
    because: "you manage questions for {{ store.name }}",
  }),
  answer_request_shoppers: requestAnswer({
    subject: "Can you answer a question about {{ product_name }}?",
    opening: "You bought {{ product_name }}, and another shopper has a question about it:",
    because: bought,
  }),
  answer_notification_shop_owner: notifyOfAnswer({
    subject: "A question about {{ product_name }} was answered",
    opening: "A question about {{ product_name }} was answered. The question:",
    because: "you manage questions for {{ store.name }}",
  }),
  answer_notification_shoppers: notifyOfAnswer({
    subject: "Your question about {{ product_name }} was answered",
    opening: "Your question about {{ product_name }} was answered. You asked:",
    because: "you asked {{ store.name }} a question",
  }),
};

interface Request {
  readonly subject: string;
  /** The first sentences, in Liquid and plain text. */
  readonly opening: string;
  readonly because: string;
}

/** Asks for reviews of the products of an order. */
function requestReviews({ subject, opening, because }: Request): EmailTemplate {
  return frame({
    subject,
    because,
    text: `{% if is_test %}${testNotice}

{% endif %}${opening} Your review helps other customers decide.
{% for product in products %}
{{ product.name }}
Write a review: {{ product.review_url }}
{% endfor %}
Thank you!`,
    html: `{% if is_test %}<p class="notice">${testNotice}</p>{% endif %}
<p>${isolate(opening)} Your review helps other customers decide.</p>
{% for product in products %}
<section class="product">
  {% if product.image_url %}<img src="{{ product.image_url }}" alt="{{ product.name }}" width="160">{% endif %}
  <h2 dir="auto">{% if product.url %}<a href="{{ product.url }}">{{ product.name }}</a>{% else %}{{ product.name }}{% endif %}</h2>
  <p><a class="button" href="{{ product.review_url }}" aria-label="Write a review of {{ product.name }}">Write a review</a></p>
</section>
{% endfor %}
<p>Thank you!</p>`,
  });
}

function requestStoreReview({ subject, opening, because }: Request): EmailTemplate {
  return frame({
    subject,
    because,
    text: `${opening} Your review helps others find a store they can trust.

Write a review: {{ review_url }}

Thank you!`,
    html: `<p>${isolate(opening)} Your review helps others find a store they can trust.</p>
<p><a class="button" href="{{ review_url }}">Write a review</a></p>
<p>Thank you!</p>`,
  });
}
