import type { EmailTemplate } from "../../outgoing-email.ts";
import type { MessageKey } from "../../../messages/messages.ts";
import { frameHtml } from "./frame-html.ts";

/** The parts of a template that depend on the category, in Liquid. */
interface Message {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** What lists of emails show after the subject. */
  readonly preheader: string;
  /** Why the recipient got this email. */
  readonly reason: string;
  /** What the unsubscribe link stops (default: these emails). */
  readonly unsubscribe?: MessageKey;
}

/** A button, in a padded cell, because Outlook ignores the padding of links, and the negative margin that clicks need. */
const button = `<table role="presentation" cellspacing="0" cellpadding="0" style="margin:0 0 16px">
<tr><td class="button" bgcolor="{{ colors.accent }}" style="padding:10px 20px;background:{{ colors.accent }};border-radius:{{ brand.radius }}px"><a href="{{ url }}" style="display:block;margin:-10px -20px;padding:10px 20px;color:{{ colors.on_accent }};font-weight:bold;text-decoration:none">{{ label }}</a></td></tr>
</table>
`;

/** Five links to the form, each with its rating. An email may have 20 of these, so they are short. */
const stars = `<table class="stars" role="presentation" cellspacing="6" cellpadding="6" style="font-size:19px"><tr>
{% for star in product.stars %}<td><a href="{{ star.url }}" style="color:{{ colors.text }}">{{ star.score }}\u00A0<b style="color:{{ colors.star }}">★</b></a></td>
{% endfor %}</tr></table>
`;

const product = `<div class="line" style="border-top:1px solid {{ colors.line }};padding:16px 0">
<table role="presentation" cellspacing="0" cellpadding="0" width="100%" style="margin:0 0 8px"><tr>
{% if product.image_url %}<td width="88"><img src="{{ product.image_url }}" alt="" width="72" style="display:block;max-height:72px;object-fit:contain"></td>
{% endif %}<td align="{{ start }}"><h2 dir="auto">{% if product.url %}<a href="{{ product.url }}">{{ product.name }}</a>{% else %}{{ product.name }}{% endif %}</h2></td>
</tr></table>
{% render "stars", product: product %}</div>
`;

const quote = `<blockquote dir="auto" class="line" style="margin:0 0 16px;padding:0 16px;border-{{ start }}:3px solid {{ colors.line }}">
{% if title != "" %}<p dir="auto"><strong>{{ title }}</strong></p>
{% endif %}<p dir="auto">{{ text | newline_to_br }}</p>
</blockquote>
`;

const frameText = `{% block greeting %}{% if customer.name == "" %}{{ "email.greeting" | t }}{% else %}{{ "email.greeting_named" | t: name: customer.name }}{% endif %}{% endblock %}
{% block content %}{% endblock %}
{% if store.is_named %}{{ store.name }}
{% endif %}{% if store.url %}{{ store.url }}
{% endif %}
--\u0020
{% block reason %}{% endblock %}
{% if brand.postal_address %}{{ brand.postal_address }}
{% endif %}{% if my_reviews_url %}{{ "email.my_reviews" | t }}: {{ my_reviews_url }}
{% endif %}{% if brand.privacy_url %}{{ "email.privacy" | t }}: {{ brand.privacy_url }}
{% endif %}{% if brand.terms_url %}{{ "email.terms" | t }}: {{ brand.terms_url }}
{% endif %}{% block unsubscribe %}{{ "email.unsubscribe" | t }}{% endblock %}: {{ unsubscribe_url }}
`;

/** The layout and its parts, by the names that templates use in `layout` and `render`. */
export const frameParts: Readonly<Record<"html" | "text", Readonly<Record<string, string>>>> = {
  html: { frame: frameHtml, button, product, stars, quote },
  text: { frame: frameText },
};

/** Builds a template in the frame, which stores can use as a starting point. */
export function frame({ subject, text, html, ...message }: Message): EmailTemplate {
  const { preheader, reason, unsubscribe = "email.unsubscribe" } = message;
  const fill = (content: string) => `{% block content %}
${content.trim()}
{% endblock %}
{% block reason %}${reason}{% endblock %}
{% block unsubscribe %}${t(unsubscribe)}{% endblock %}
`;
  return {
    subject,
    text: `{% layout "frame" %}\n${fill(text)}`,
    html: `{% layout "frame" %}\n{% block preheader %}${preheader}{% endblock %}\n${fill(html)}`,
  };
}

/** A message in Liquid. @param values the variables that it contains, by their names in the message */
export function t(key: MessageKey, values: Readonly<Record<string, string>> = {}): string {
  const given = Object.entries(values).map(([name, variable]) => `${name}: ${variable}`);
  return `{{ "${key}" | t${given.length === 0 ? "" : `: ${given.join(", ")}`} }}`;
}
