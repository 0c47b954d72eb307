import type { SentEmailCategory } from "../../../contract/index.ts";
import type { MessageKey } from "../../../messages/messages.ts";
import type { EmailTemplate } from "../../outgoing-email.ts";
import { frame, t } from "./frame.ts";

const store = { store: "store.name" };
const product = { product: "product_name" };
const productAndStore = { ...store, ...product };

/** The message about the product, if the review is about one, and otherwise about the store. */
const aboutReview = (ofProduct: MessageKey, ofStore: MessageKey, values: Readonly<Record<string, string>> = {}) =>
  `{% if product_name %}${t(ofProduct, { ...values, ...product })}{% else %}${t(ofStore, values)}{% endif %}`;

/** A button whose text is a message. */
const button = (key: MessageKey, url: string) =>
  `{% assign label = "${key}" | t %}{% render "button", url: ${url}, label: label %}`;

/** A command in HTML, whose flag stays on one line. */
const code = (command: string) =>
  `<code dir="ltr">${command.replace("--content", '<span style="white-space:nowrap">--content</span>')}</code>`;

const verifyOpening = aboutReview("email.verify.opening_product", "email.verify.opening");

const verifyReview: EmailTemplate = frame({
  subject: aboutReview("email.verify.subject_product", "email.verify.subject"),
  preheader: t("email.verify.preheader"),
  reason: t("email.verify.reason", store),
  unsubscribe: "email.unsubscribe_requests",
  text: `${verifyOpening}

{{ verify_url }}

${t("email.verify.ignore")}`,
  html: `<p>${verifyOpening}</p>
${button("email.verify.button", "verify_url")}
<p>${t("email.verify.ignore")}</p>`,
});

const confirmQuestion: EmailTemplate = frame({
  subject: t("email.question.subject", product),
  preheader: t("email.question.preheader"),
  reason: t("email.question.reason", store),
  unsubscribe: "email.unsubscribe_answers",
  text: `${t("email.question.opening", product)}

{{ confirm_url }}

${t("email.question.ignore")}`,
  html: `<p>${t("email.question.opening", product)}</p>
${button("email.question.button", "confirm_url")}
<p>${t("email.question.ignore")}</p>`,
});

const howToAnswer = t("email.new_question.how", { id: "question_id" });
const answerCommand = `starpost questions answer {{ question_id }} --content "${t("email.new_question.example")}"`;
const publishCommand = "starpost questions publish {{ question_id }}";

const requestAnswer: EmailTemplate = frame({
  subject: t("email.new_question.subject", product),
  preheader: "{{ content | truncate: 140 }}",
  reason: t("email.reason_questions", store),
  text: `${t("email.new_question.opening", product)}

{{ content | quote }}

{% if is_held %}${t("email.new_question.held")}
${publishCommand}

{% endif %}${t("email.new_question.button")}: {{ answer_url }}

${howToAnswer}
${answerCommand}`,
  html: `<p>${t("email.new_question.opening", product)}</p>
{% render "quote", title: "", text: content %}
{% if is_held %}<p>${t("email.new_question.held")}<br>
${code(publishCommand)}</p>
{% endif %}${button("email.new_question.button", "answer_url")}
<p>${howToAnswer}<br>
${code(answerCommand)}</p>`,
});

const askShopper: EmailTemplate = frame({
  subject: t("email.ask_buyer.subject", product),
  preheader: "{{ content | truncate: 140 }}",
  reason: t("email.ask_buyer.reason", productAndStore),
  text: `${t("email.ask_buyer.opening", productAndStore)}

{{ content | quote }}

${t("email.ask_buyer.help")} ${t("email.ask_buyer.button")}: {{ answer_url }}`,
  html: `<p>${t("email.ask_buyer.opening", productAndStore)}</p>
{% render "quote", title: "", text: content %}
<p>${t("email.ask_buyer.help")}</p>
${button("email.ask_buyer.button", "answer_url")}`,
});

/** The parts that differ between emails about the same thing. */
interface Variant {
  readonly subject: string;
  /** The first sentences. */
  readonly opening: string;
  readonly reason: string;
}

function notifyOfAnswer({ subject, opening, reason }: Variant): EmailTemplate {
  return frame({
    subject,
    reason,
    preheader: "{{ answer | truncate: 140 }}",
    text: `${opening}

{{ content | quote }}

${t("email.answer.answer")}

{{ answer | quote }}

{{ product_name }}{% if product_url %}: {{ product_url }}{% endif %}`,
    html: `<p>${opening}</p>
{% render "quote", title: "", text: content %}
<p>${t("email.answer.answer")}</p>
{% render "quote", title: "", text: answer %}
<p>{% if product_url %}<a href="{{ product_url }}"><bdi>{{ product_name }}</bdi></a>{% else %}<bdi>{{ product_name }}</bdi>{% endif %}</p>`,
  });
}

/** The message that states who answered, which emails that were queued by earlier versions do not contain. */
const byAuthor = (prefix: "email.answer." | "email.answer.opening_") =>
  [
    `{% if is_by_store and store.is_named %}${t(`${prefix}by_store`, productAndStore)}`,
    `{% elsif is_by_store %}${t(`${prefix}by_unnamed_store`, product)}`,
    `{% elsif is_by_store == false %}${t(`${prefix}by_customer`, product)}`,
    `{% else %}${t(`${prefix}by_unknown`, product)}{% endif %}`,
  ].join("");

const reviewOpening = aboutReview("email.new_review.opening_product", "email.new_review.opening", { score: "score" });
const howToReply = t("email.new_review.how", { id: "review_id" });
const replyCommand = `starpost reviews comment {{ review_id }} --content "${t("email.new_review.example")}"`;

const requestComment: EmailTemplate = frame({
  subject: aboutReview("email.new_review.subject_product", "email.new_review.subject", { score: "score" }),
  preheader: "{{ content | truncate: 140 }}",
  reason: t("email.reason_reviews", store),
  text: `${reviewOpening}

{{ title | quote }}
{{ content | quote }}

${t("email.new_review.button")}: {{ comment_url }}

${howToReply}
${replyCommand}`,
  html: `<p>${reviewOpening}</p>
{% render "quote", title: title, text: content %}
${button("email.new_review.button", "comment_url")}
<p>${howToReply}<br>
${code(replyCommand)}</p>`,
});

const replyOpening = aboutReview("email.reply.opening_product", "email.reply.opening", store);

const notifyOfComment: EmailTemplate = frame({
  subject: t("email.reply.subject", store),
  preheader: "{{ comment | truncate: 140 }}",
  reason: t("email.reply.reason", store),
  text: `${replyOpening}

{{ comment | quote }}

${t("email.reply.yours")}

{{ title | quote }}
{{ content | quote }}`,
  html: `<p>${replyOpening}</p>
{% render "quote", title: "", text: comment %}
<p>${t("email.reply.yours")}</p>
{% render "quote", title: title, text: content %}`,
});

/** Names the product in a subject, if there is only one. */
const aboutProducts = (ofProduct: MessageKey, ofOrder: MessageKey) =>
  `{% if products.size == 1 %}${t(ofProduct, { product: "products[0].name" })}{% else %}${t(ofOrder, store)}{% endif %}`;

const sendMyReviews: EmailTemplate = frame({
  subject: t("email.my_reviews.subject", store),
  preheader: t("email.my_reviews.preheader"),
  reason: t("email.my_reviews.reason", store),
  unsubscribe: "email.unsubscribe_requests",
  text: `${t("email.my_reviews.opening")}

{{ my_reviews_url }}

${t("email.my_reviews.warning")}

${t("email.my_reviews.ignore")}`,
  html: `<p>${t("email.my_reviews.opening")}</p>
${button("email.my_reviews.button", "my_reviews_url")}
<p>${t("email.my_reviews.warning")}</p>
<p>${t("email.my_reviews.ignore")}</p>`,
});

const orderAndStore = { order: "order_id", ...store };

/**
 * The built-in templates.
 * Assumed: all texts; the specification only names the categories.
 */
export const builtInTemplates: Readonly<Record<SentEmailCategory, EmailTemplate>> = {
  map: requestReviews({
    subject: aboutProducts("email.map.subject_product", "email.map.subject"),
    opening: t("email.map.opening", orderAndStore),
  }),
  reminder: requestReviews({
    subject: aboutProducts("email.reminder.subject_product", "email.reminder.subject"),
    opening: t("email.reminder.opening", store),
  }),
  mail_after_invoice: requestReviews({
    subject: t("email.mail_after_invoice.subject", store),
    opening: t("email.mail_after_invoice.opening", orderAndStore),
  }),
  site_reminder: requestReviews({
    subject: t("email.site_reminder.subject", store),
    opening: t("email.site_reminder.opening", store),
  }),
  mail_after_service: requestReviews({
    subject: t("email.mail_after_service.subject"),
    opening: t("email.mail_after_service.opening", store),
    reason: t("email.mail_after_service.reason", store),
  }),
  testimonials_request: requestReviews({
    subject: t("email.testimonials_request.subject", store),
    opening: t("email.testimonials_request.opening", store),
  }),
  custom_map: requestReviews({
    subject: aboutProducts("email.custom_map.subject_product", "email.custom_map.subject"),
    opening: t("email.custom_map.opening", store),
  }),
  anonymous_testimonials_request: verifyReview,
  comment_request: requestComment,
  comment_notification: notifyOfComment,
  question_confirmation: confirmQuestion,
  answer_request_shop_owner: requestAnswer,
  answer_request_shoppers: askShopper,
  answer_notification_shop_owner: notifyOfAnswer({
    subject: t("email.answer.subject_owner", product),
    opening: t("email.answer.opening_owner", product),
    reason: t("email.reason_questions", store),
  }),
  answer_notification_shoppers: notifyOfAnswer({
    subject: byAuthor("email.answer."),
    opening: byAuthor("email.answer.opening_"),
    reason: t("email.answer.reason", store),
  }),
  my_reviews: sendMyReviews,
  coupon_notification: sendCoupon("coupon_notification"),
  coupon_reminder: sendCoupon("coupon_reminder"),
};

/** Contains a coupon code. It does not depend on the rating, which the email states. */
function sendCoupon(category: "coupon_notification" | "coupon_reminder"): EmailTemplate {
  const opening = t(`email.${category}.opening`, store);
  const note = t("email.coupon_notification.note");
  return frame({
    subject: t(`email.${category}.subject`, store),
    preheader: opening,
    reason: t("email.reply.reason", store),
    text: `${opening}

{{ coupon_code }}

${note}`,
    html: `<p>${opening}</p>
<p><strong dir="ltr">{{ coupon_code }}</strong></p>
<p>${note}</p>`,
  });
}

/** Asks for reviews of the products of an order. Each star opens the form with that rating. */
function requestReviews({
  subject,
  opening,
  reason = t("email.reason_bought", store),
}: Omit<Variant, "reason"> & Partial<Variant>): EmailTemplate {
  const [invitation, testNotice, thanks] = [t("email.request.invitation"), t("email.request.test"), t("email.thanks")];
  return frame({
    subject,
    preheader: invitation,
    reason,
    text: `{% if is_test %}${testNotice}

{% endif %}${opening} ${invitation}
{% for product in products %}
{{ product.name }}
{% for star in product.stars reversed %}{{ star.score }} ★ {{ star.url }}
{% endfor %}{% endfor %}
${thanks}`,
    html: `{% if is_test %}<p><strong>${testNotice}</strong></p>{% endif %}
<p>${opening} ${invitation}</p>
{% for product in products %}
{% render "product", product: product %}
{% endfor %}
<p>${thanks}</p>`,
  });
}
