import type { SentEmailCategory } from "../../../contract/index.ts";
import type { EmailTemplate } from "../../outgoing-email.ts";
import { frame, isolate } from "./frame.ts";

const ofProduct = `{% if product_name %} of {{ product_name }}{% endif %}`;

const verifyReview: EmailTemplate = frame({
  subject: `Please confirm your review{% if product_name %} of {{ product_name }}{% endif %}`,
  because: "this address was used to review a purchase from {{ store.name }}",
  unsubscribes: "review requests",
  preheader: "Please confirm that you wrote it.",
  text: `Thank you for your review${ofProduct}. Please confirm that you wrote it:

{{ verify_url }}

If you did not write this review, you can ignore this email.`,
  html: `<p>Thank you for your review${isolate(ofProduct)}. Please confirm that you wrote it:</p>
{% render "button", url: verify_url, label: "Confirm my review" %}
<p>If you did not write this review, you can ignore this email.</p>`,
});

const confirmQuestion: EmailTemplate = frame({
  subject: "Please confirm your question about {{ product_name }}",
  because: "this address was used to ask {{ store.name }} a question",
  unsubscribes: "answers to your questions",
  preheader: "Please confirm it so that the store and its customers can answer.",
  text: `Thank you for your question about {{ product_name }}. Please confirm it so that the store and its customers can answer:

{{ confirm_url }}

If you did not ask this question, you can ignore this email.`,
  html: `<p>Thank you for your question about <bdi>{{ product_name }}</bdi>. Please confirm it so that the store and its customers can answer:</p>
{% render "button", url: confirm_url, label: "Confirm my question" %}
<p>If you did not ask this question, you can ignore this email.</p>`,
});

/** The parts that differ between emails about the same thing. */
interface Variant {
  readonly subject: string;
  /** The first sentences, in Liquid and plain text. */
  readonly opening: string;
  readonly because: string;
}

const requestAnswer: EmailTemplate = frame({
  subject: "New question about {{ product_name }}",
  because: "you manage questions for {{ store.name }}",
  preheader: "{{ content | truncate: 140 }}",
  text: `A customer asked a question about {{ product_name }}:

{{ content | quote }}

{% if is_held %}Only visitors have named this product, so the question waits for you. To publish it:
starpost questions publish {{ question_id }}

{% endif %}See the product: {{ answer_url }}

To answer, use the question ID {{ question_id }}:
starpost questions answer {{ question_id }} --content "Your answer"`,
  html: `<p>A customer asked a question about <bdi>{{ product_name }}</bdi>:</p>
{% render "quote", title: "", text: content %}
{% if is_held %}<p>Only visitors have named this product, so the question waits for you. To publish it:<br>
<code>starpost questions publish {{ question_id }}</code></p>
{% endif %}{% render "button", url: answer_url, label: "See the product" %}
<p>To answer, use the question ID {{ question_id }}:<br>
<code>starpost questions answer {{ question_id }} --content "Your answer"</code></p>`,
});

const askShopper: EmailTemplate = frame({
  subject: "Can you answer a question about {{ product_name }}?",
  because: "you bought {{ product_name }} from {{ store.name }}",
  preheader: "{{ content | truncate: 140 }}",
  text: `You bought {{ product_name }} from {{ store.name }}. Another customer asks:

{{ content | quote }}

Can you help? Answer the question: {{ answer_url }}`,
  html: `<p>You bought <bdi>{{ product_name }}</bdi> from <bdi>{{ store.name }}</bdi>. Another customer asks:</p>
{% render "quote", title: "", text: content %}
<p>Can you help?</p>
{% render "button", url: answer_url, label: "Answer the question" %}`,
});

function notifyOfAnswer({ subject, opening, because }: Variant): EmailTemplate {
  return frame({
    subject,
    because,
    preheader: "{{ answer | truncate: 140 }}",
    text: `${opening}

{{ content | quote }}

Answer:

{{ answer | quote }}

{{ product_name }}{% if product_url %}: {{ product_url }}{% endif %}`,
    html: `<p>${isolate(opening)}</p>
{% render "quote", title: "", text: content %}
<p>Answer:</p>
{% render "quote", title: "", text: answer %}
<p>{% if product_url %}<a href="{{ product_url }}"><bdi>{{ product_name }}</bdi></a>{% else %}<bdi>{{ product_name }}</bdi>{% endif %}</p>`,
  });
}

const requestComment: EmailTemplate = frame({
  subject: "New review{% if product_name %} of {{ product_name }}{% endif %}: {{ score }} out of 5 stars",
  because: "you manage reviews for {{ store.name }}",
  preheader: "{{ content | truncate: 140 }}",
  text: `You have a new review${ofProduct} ({{ score }} out of 5 stars):

{{ title | quote }}
{{ content | quote }}

See all reviews: {{ comment_url }}

To reply, use the review ID {{ review_id }}:
starpost reviews comment {{ review_id }} --content "Your reply"`,
  html: `<p>You have a new review${isolate(ofProduct)} ({{ score }} out of 5 stars):</p>
{% render "quote", title: title, text: content %}
{% render "button", url: comment_url, label: "See all reviews" %}
<p>To reply, use the review ID {{ review_id }}:<br>
<code>starpost reviews comment {{ review_id }} --content "Your reply"</code></p>`,
});

const notifyOfComment: EmailTemplate = frame({
  subject: "Reply to your review from {{ store.name }}",
  because: "you wrote a review for {{ store.name }}",
  preheader: "{{ comment | truncate: 140 }}",
  text: `You received a reply from {{ store.name }} to your review${ofProduct}:

{{ comment | quote }}

Your review:

{{ title | quote }}
{{ content | quote }}`,
  html: `<p>You received a reply from <bdi>{{ store.name }}</bdi> to your review${isolate(ofProduct)}:</p>
{% render "quote", title: "", text: comment %}
<p>Your review:</p>
{% render "quote", title: title, text: content %}`,
});

const yourQuestion = "your question about {{ product_name }}";
const yourAnswer = `{% if is_by_store %}{% if store.is_named %}{{ store.name }}{% else %}The store{% endif %} answered ${yourQuestion}{% elsif is_by_store == false %}A customer answered ${yourQuestion}{% else %}Your question about {{ product_name }} was answered{% endif %}`;

const testNotice = "This is a test email. Reviews written from it are not saved.";
const orderedProducts =
  "{% if products.size == 1 %}{{ products[0].name }}{% else %}your order from {{ store.name }}{% endif %}";
const bought = "you bought something from {{ store.name }}";
const invitation =
  "Your review helps other customers decide. To write it, choose your rating, from 1 star (worst) to 5 stars (best).";
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
  mail_after_invoice: requestReviews({
    subject: "How was your order from {{ store.name }}?",
    opening: `${order} How was it to shop with us?`,
    because: bought,
  }),
  site_reminder: requestReviews({
    subject: "Reminder: how was your order from {{ store.name }}?",
    opening: "We recently asked how it was to shop at {{ store.name }}. We would still love to hear from you.",
    because: bought,
  }),
  mail_after_service: requestReviews({
    subject: "How was our service?",
    opening: "You recently contacted {{ store.name }}. How was our service?",
    because: "you contacted {{ store.name }}",
  }),
  testimonials_request: requestReviews({
    subject: "What do you think of {{ store.name }}?",
    opening: "Thank you for shopping at {{ store.name }}. What do you think of us?",
    because: bought,
  }),
  custom_map: requestReviews({
    subject: `What do you think of ${orderedProducts}?`,
    opening: "Thank you for shopping at {{ store.name }}. What do you think of what you bought?",
    because: bought,
  }),
  anonymous_testimonials_request: verifyReview,
  comment_request: requestComment,
  comment_notification: notifyOfComment,
  question_confirmation: confirmQuestion,
  answer_request_shop_owner: requestAnswer,
  answer_request_shoppers: askShopper,
  answer_notification_shop_owner: notifyOfAnswer({
    subject: "A customer answered a question about {{ product_name }}",
    opening: "A customer answered a question about {{ product_name }}. The question:",
    because: "you manage questions for {{ store.name }}",
  }),
  answer_notification_shoppers: notifyOfAnswer({
    subject: yourAnswer,
    opening: `${yourAnswer}. You asked:`,
    because: "you asked {{ store.name }} a question",
  }),
};

/** Asks for reviews of the products of an order. Each star opens the form with that rating. */
function requestReviews({ subject, opening, because }: Variant): EmailTemplate {
  return frame({
    subject,
    because,
    preheader: invitation,
    text: `{% if is_test %}${testNotice}

{% endif %}${opening} ${invitation}
{% for product in products %}
{{ product.name }}
{% for star in product.stars reversed %}{{ star.score }} ★ {{ star.url }}
{% endfor %}{% endfor %}
Thank you!`,
    html: `{% if is_test %}<p><strong>${testNotice}</strong></p>{% endif %}
<p>${isolate(opening)} ${invitation}</p>
{% for product in products %}
{% render "product", product: product %}
{% endfor %}
<p>Thank you!</p>`,
  });
}
