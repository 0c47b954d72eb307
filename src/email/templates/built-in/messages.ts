import type { EmailTemplate } from "../../outgoing-email.ts";
import { frame, isolate } from "./frame.ts";

const ofProduct = `{% if product_name %} of {{ product_name }}{% endif %}`;

export const verifyReview: EmailTemplate = frame({
  subject: `Please confirm your review{% if product_name %} of {{ product_name }}{% endif %}`,
  because: "your address was given with a review at {{ store.name }}",
  text: `Thank you for your review${ofProduct}. Please confirm that it is yours:

{{ verify_url }}

This is what we received ({{ score }} of 5 stars):

{{ title | quote }}
{{ content | quote }}

If you did not write it, you need not do anything.`,
  html: `<p>Thank you for your review${isolate(ofProduct)}. Please confirm that it is yours:</p>
<p><a class="button" href="{{ verify_url }}">Confirm my review</a></p>
<p>This is what we received ({{ score }} of 5 stars):</p>
<blockquote dir="auto">
  <p dir="auto"><strong>{{ title }}</strong></p>
  <p dir="auto">{{ content | newline_to_br }}</p>
</blockquote>
<p>If you did not write it, you need not do anything.</p>`,
});

export const confirmQuestion: EmailTemplate = frame({
  subject: "Please confirm your question about {{ product_name }}",
  because: "your address was given with a question at {{ store.name }}",
  text: `You asked about {{ product_name }}. Please confirm your question; then the store and its customers can answer it:

{{ confirm_url }}

This is what we received:

{{ content | quote }}

If you did not ask, you need not do anything.`,
  html: `<p>You asked about <bdi>{{ product_name }}</bdi>. Please confirm your question; then the store and its customers can answer it:</p>
<p><a class="button" href="{{ confirm_url }}">Confirm my question</a></p>
<p>This is what we received:</p>
<blockquote dir="auto">
  <p dir="auto">{{ content | newline_to_br }}</p>
</blockquote>
<p>If you did not ask, you need not do anything.</p>`,
});

interface QuestionNews {
  readonly subject: string;
  readonly opening: string;
  readonly because: string;
}

/** Asks somebody who may know for an answer. */
export function requestAnswer({ subject, opening, because }: QuestionNews): EmailTemplate {
  return frame({
    subject,
    because,
    text: `${opening}

{{ content | quote }}

Answer: {{ answer_url }}`,
    html: `<p>${isolate(opening)}</p>
<blockquote dir="auto">
  <p dir="auto">{{ content | newline_to_br }}</p>
</blockquote>
<p><a class="button" href="{{ answer_url }}">Answer the question</a></p>`,
  });
}

/** Tells of an answer to a question. */
export function notifyOfAnswer({ subject, opening, because }: QuestionNews): EmailTemplate {
  return frame({
    subject,
    because,
    text: `${opening}

{{ content | quote }}

The answer:

{{ answer | quote }}

{{ product_name }}{% if product_url %}: {{ product_url }}{% endif %}`,
    html: `<p>${isolate(opening)}</p>
<blockquote dir="auto">
  <p dir="auto">{{ content | newline_to_br }}</p>
</blockquote>
<p>The answer:</p>
<blockquote dir="auto">
  <p dir="auto">{{ answer | newline_to_br }}</p>
</blockquote>
<p>{% if product_url %}<a href="{{ product_url }}"><bdi>{{ product_name }}</bdi></a>{% else %}<bdi>{{ product_name }}</bdi>{% endif %}</p>`,
  });
}

export const requestComment: EmailTemplate = frame({
  subject: "A new review{% if product_name %} of {{ product_name }}{% endif %}: {{ score }} of 5 stars",
  because: "you look after the reviews of {{ store.name }}",
  text: `There is a new review${ofProduct} ({{ score }} of 5 stars):

{{ title | quote }}
{{ content | quote }}

Comment on it: {{ comment_url }}`,
  html: `<p>There is a new review${isolate(ofProduct)} ({{ score }} of 5 stars):</p>
<blockquote dir="auto">
  <p dir="auto"><strong>{{ title }}</strong></p>
  <p dir="auto">{{ content | newline_to_br }}</p>
</blockquote>
<p><a class="button" href="{{ comment_url }}">Comment on the review</a></p>`,
});

export const notifyOfComment: EmailTemplate = frame({
  subject: "{{ store.name }} has answered your review",
  because: "you wrote a review at {{ store.name }}",
  text: `{{ store.name }} has commented on your review${ofProduct}:

{{ comment | quote }}

You had written:

{{ title | quote }}
{{ content | quote }}`,
  html: `<p><bdi>{{ store.name }}</bdi> has commented on your review${isolate(ofProduct)}:</p>
<blockquote dir="auto">
  <p dir="auto">{{ comment | newline_to_br }}</p>
</blockquote>
<p>You had written:</p>
<blockquote dir="auto">
  <p dir="auto"><strong>{{ title }}</strong></p>
  <p dir="auto">{{ content | newline_to_br }}</p>
</blockquote>`,
});
