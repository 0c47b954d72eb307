import type { SentEmailCategory } from "../../../contract/index.ts";
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

/**
 * The built-in templates.
 * Assumed: all texts; the specification only names the categories.
 */
export const builtInTemplates: Readonly<Record<SentEmailCategory, EmailTemplate>> = {
  map: requestReviews({
    subject: `How do you like ${orderedProducts}?`,
    opening: `${order} How do you like it?`,
    because: bought,
  }),
  reminder: requestReviews({
    subject: `Reminder: how do you like ${orderedProducts}?`,
    opening: `We recently asked how you like your order from {{ store.name }}. We would still love to hear from you.`,
    because: bought,
  }),
  anonymous_testimonials_request: verifyReview,
  comment_request: requestComment,
  comment_notification: notifyOfComment,
  question_confirmation: confirmQuestion,
  answer_request_shop_owner: requestAnswer,
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
