import type { EmailTemplate } from "../../outgoing-email.ts";
import { frameHtml } from "./frame-html.ts";

/** The parts of a template that depend on the category, in Liquid. */
export interface Message {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** What lists of emails show after the subject. */
  readonly preheader: string;
  /** Completes the sentence "You received this email because …". */
  readonly because: string;
  /** What the unsubscribe link stops (default: these emails). */
  readonly unsubscribes?: string;
}

/** A button, in a padded cell, because Outlook ignores the padding of links. */
const button = `<table role="presentation" border="0" cellspacing="0" cellpadding="0" style="margin:0 0 16px">
<tr><td class="button" bgcolor="{{ colors.accent }}" style="padding:5px 10px;background:{{ colors.accent }};border-radius:{{ brand.radius }}px"><a href="{{ url }}" style="display:block;padding:5px 10px;color:{{ colors.on_accent }};font-weight:bold;text-decoration:none">{{ label }}</a></td></tr>
</table>
`;

/** Five links to the form, each with its rating. An email may have 20 of these, so they are short. */
const stars = `<table class="stars" role="presentation" border="0" cellspacing="0" cellpadding="6" style="font-size:19px"><tr>
{% for star in product.stars %}<td><a href="{{ star.url }}" style="color:{{ colors.text }};text-decoration:none">{{ star.score }}&#160;<b style="color:{{ colors.star }}">★</b></a></td>
{% endfor %}</tr></table>
`;

const product = `<div class="line" style="border-top:1px solid {{ colors.line }};padding:16px 0">
<table role="presentation" border="0" cellspacing="0" cellpadding="0" width="100%" style="margin:0 0 8px"><tr>
{% if product.image_url %}<td width="88"><img src="{{ product.image_url }}" alt="" width="72" height="72" style="display:block;height:72px;object-fit:contain"></td>
{% endif %}<td align="{{ start }}"><h2 dir="auto">{% if product.url %}<a href="{{ product.url }}">{{ product.name }}</a>{% else %}{{ product.name }}{% endif %}</h2></td>
</tr></table>
{% render "stars", product: product %}</div>
`;

const quote = `<blockquote dir="auto" class="line" style="margin:0 0 16px;padding:0 16px;border-{{ start }}:3px solid {{ colors.line }}">
{% if title != "" %}<p dir="auto"><strong>{{ title }}</strong></p>
{% endif %}<p dir="auto">{{ text | newline_to_br }}</p>
</blockquote>
`;

const frameText = `{% block greeting %}Hi{% if customer.name != "" %} {{ customer.name }}{% endif %},{% endblock %}
{% block content %}{% endblock %}
{% if store.is_named %}{{ store.name }}
{% endif %}{% if store.url %}{{ store.url }}
{% endif %}
--\u0020
{% block reason %}{% endblock %}
{% if brand.postal_address %}{{ brand.postal_address }}
{% endif %}{% if my_reviews_url %}My reviews: {{ my_reviews_url }}
{% endif %}{% if brand.privacy_url %}Privacy: {{ brand.privacy_url }}
{% endif %}{% if brand.terms_url %}Terms: {{ brand.terms_url }}
{% endif %}{% block unsubscribe %}Unsubscribe{% endblock %}: {{ unsubscribe_url }}
`;

/** The layout and its parts, by the names that templates use in `layout` and `render`. */
export const frameParts: Readonly<Record<"html" | "text", Readonly<Record<string, string>>>> = {
  html: { frame: frameHtml, button, product, stars, quote },
  text: { frame: frameText },
};

/** Builds a template in the frame, which stores can use as a starting point. */
export function frame({ subject, text, html, ...message }: Message): EmailTemplate {
  const { preheader, because, unsubscribes = "these emails" } = message;
  const fill = (content: string, reason: string) => `{% block content %}
${content.trim()}
{% endblock %}
{% block reason %}You received this email because ${reason}.{% endblock %}
{% block unsubscribe %}Unsubscribe from ${unsubscribes}{% endblock %}
`;
  return {
    subject,
    text: `{% layout "frame" %}\n${fill(text, because)}`,
    html: `{% layout "frame" %}\n{% block preheader %}${preheader}{% endblock %}\n${fill(html, isolate(because))}`,
  };
}

/** Wraps each value in an element that isolates its text direction. */
export function isolate(sentence: string): string {
  return sentence.replaceAll(/\{\{[^{}]*\}\}/g, (output) => `<bdi>${output}</bdi>`);
}
