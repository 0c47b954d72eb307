import type { EmailTemplate } from "../../outgoing-email.ts";
import { frame, isolate } from "./frame.ts";

interface Request {
  readonly subject: string;
  /** The first sentences, in Liquid and plain text. */
  readonly opening: string;
  readonly because: string;
}

const testNotice = "This is a test email. Reviews written from it are not saved.";

/** Asks for reviews of the products of an order. */
export function requestReviews({ subject, opening, because }: Request): EmailTemplate {
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

/** Asks for a review of the store. */
export function requestStoreReview({ subject, opening, because }: Request): EmailTemplate {
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
