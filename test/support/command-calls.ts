import type { OperationName } from "../../src/contract/index.ts";
import { tinyPng } from "./photos.ts";

/** Values saved by earlier calls for later ones. */
export type Seen = Record<string, string>;

/** A command line that makes a call. Words in braces are replaced by saved values. */
export interface CommandCall {
  readonly call: OperationName;
  readonly words: readonly string[];
  readonly stdin?: string;
  /** Default: 0. */
  readonly status?: number;
  /** Maps names of values to save to their paths in the printed JSON. */
  readonly keep?: Readonly<Record<string, string>>;
  /** A token from an email link, to be saved as `token` before the call. */
  readonly token?:
    | "verify_url"
    | "confirm_url"
    | "unsubscribe_url"
    | "review"
    | "answer"
    | "myReviews"
    | "open"
    | "click";
}

const product = { name: "Teapot", url: "https://shop.example/teapot" };
const order = {
  order_id: "1001",
  email: "rob@mail.example",
  customer_name: "Rob Roy",
  order_date: "2026-01-31",
  products: { teapot: product, "bad id": product },
};
const json = JSON.stringify;
const review = [
  "--sku",
  "teapot",
  "--product-title",
  "Teapot",
  "--display-name",
  "Ann",
  "--email",
  "ann@mail.example",
  "--review-content",
  "Pours well",
  "--review-title",
  "Good",
  "--review-score",
  "5",
  "--product-url",
  "https://shop.example/teapot",
];
const question = [
  "--review-content",
  "Does it pour?",
  "--display-name",
  "Ann",
  "--email",
  "ann@mail.example",
  "--product-id",
  "teapot",
  "--product-title",
  "Teapot",
  "--product-url",
  "https://shop.example/teapot",
];
const campaign = ["--category", "custom_map", "--emails-per-hour", "5", "--order-ids", "1001"];
const typed = ["--score", "5", "--title", "Good", "--content", "Good", "--display-name", "Ann"];

/** A command for every operation, ordered so that each finds the records it needs. */
export const commandCalls: readonly CommandCall[] = [
  {
    call: "account.setPlatform",
    words: ["account", "set-platform", "--shop-domain", "http://shop.example", "--platform-type-id", "2"],
  },
  { call: "account.setFeature", words: ["account", "set-feature", "--feature", "dynamic_coupons", "--enabled"] },
  { call: "account.set", words: ["account", "set", "--name", "Tea & Cups"] },
  { call: "account.settings", words: ["api", "account.settings"] },
  { call: "account.features", words: ["account", "features"] },
  { call: "brand.set", words: ["api", "brand.set", "--logo", tinyPng, "--radius", "0"] },
  { call: "brand.show", words: ["account", "brand", "show"] },
  { call: "brand.logo", words: ["api", "brand.logo"] },
  { call: "brand.reset", words: ["account", "brand", "reset", "--yes"] },
  { call: "tokens.create", words: ["api", "tokens.create"] },
  { call: "core.createToken", words: ["api", "core.createToken"] },
  { call: "credentials.create", words: ["account", "create-credential", "--role", "support", "--name", "Ann"] },
  { call: "credentials.list", words: ["account", "credentials"], keep: { credential_id: "0.id" } },
  { call: "credentials.current", words: ["api", "credentials.current"] },
  { call: "credentials.revoke", words: ["account", "revoke-credential", "{credential_id}", "--yes"] },
  {
    call: "users.create",
    words: [
      "api",
      "users.create",
      "--email",
      "o@mail.example",
      "--display-name",
      "O",
      "--url",
      "https://o.example",
      "--password-stdin",
    ],
    stdin: "secret words\n",
    keep: { user_id: "user_id" },
  },
  { call: "users.get", words: ["api", "users.get", "{user_id}"] },
  { call: "users.signIn", words: ["api", "users.signIn"], keep: { code: "code" } },
  { call: "users.signedIn", words: ["api", "users.signedIn", "{code}"] },
  {
    call: "coupons.upload",
    words: ["api", "coupons.upload", "--action", "map_review", "--codes", "AAAA", "--codes", "BBBB"],
  },
  { call: "coupons.upload", words: ["api", "coupons.upload", "--action", "map_review", "--codes", "AAAA"], status: 3 },
  { call: "coupons.list", words: ["coupons", "list", "--details"] },
  { call: "coupons.search", words: ["coupons", "list", "--search", "bbb"] },
  { call: "coupons.stats", words: ["coupons", "stats"] },
  { call: "coupons.issue", words: ["coupons", "issue", "--action", "map_review", "--to", "ann@mail.example"] },
  { call: "coupons.delete", words: ["coupons", "delete", "--action", "map_review", "--yes"] },
  {
    call: "unsubscribers.massCreate",
    words: ["api", "unsubscribers.massCreate", "--email-list", json({ 1: ["a@mail.example"] })],
  },
  {
    call: "unsubscribers.massCreate",
    words: ["api", "unsubscribers.massCreate", "--email-list", json({ 1: ["nobody"] }), "--async", "--validate-data"],
    status: 3,
  },
  { call: "unsubscribers.list", words: ["unsubscribers", "list"] },
  { call: "unsubscribers.search", words: ["unsubscribers", "list", "--type", "reviews", "--since", "7d"] },
  {
    call: "unsubscribers.massDelete",
    words: ["api", "unsubscribers.massDelete", "--email-list", json({ 1: ["a@mail.example"] }), "--yes"],
  },
  {
    call: "products.massCreate",
    words: ["api", "products.massCreate", "--products", json({ teapot: product, pan: product })],
  },
  {
    call: "products.massUpdate",
    words: ["api", "products.massUpdate", "--input", "-"],
    stdin: json({ products: { pan: product } }),
  },
  {
    call: "orders.massCreate",
    words: ["api", "orders.massCreate", "--platform", "general", "--orders", json([order]), "--send-mail"],
  },
  {
    call: "orders.create",
    words: [
      "orders",
      "create",
      "--order-id",
      "2",
      "--email",
      "rob@mail.example",
      "--customer-name",
      "Rob",
      "--platform",
      "general",
      "--order-date",
      "2026-01-31",
      "--products",
      json({ teapot: product }),
    ],
  },
  { call: "orders.list", words: ["orders", "list", "--details"] },
  { call: "products.missed", words: ["products", "missed", "--missed-products-ids", "all"] },
  { call: "products.setPromoted", words: ["products", "set-promoted", "--product-ids", "teapot"] },
  { call: "products.promoted", words: ["products", "promoted"] },
  { call: "core.listProducts", words: ["api", "core.listProducts", "--limit", "1"] },
  { call: "core.listProducts", words: ["products", "list"] },
  { call: "products.search", words: ["products", "list", "--search", "teapot"] },
  { call: "groups.create", words: ["groups", "create", "pots"] },
  { call: "groups.update", words: ["groups", "update", "pots", "--product-ids-to-add", "teapot"] },
  { call: "groups.list", words: ["groups", "list"] },
  { call: "groups.get", words: ["groups", "get", "pots"] },
  { call: "groups.update", words: ["groups", "update", "pots", "--product-ids-to-remove", "teapot"] },
  { call: "groups.delete", words: ["groups", "delete", "pots", "--yes"] },
  { call: "seo.checkSubdomain", words: ["api", "seo.checkSubdomain", "pots"] },
  { call: "seo.pageUrl", words: ["api", "seo.pageUrl", "--product-id", "teapot"] },
  { call: "seo.page", words: ["api", "seo.page"] },
  { call: "webhooks.create", words: ["webhooks", "create", "https://shop.example/hook"], keep: { webhook_id: "0.id" } },
  { call: "webhooks.trigger", words: ["webhooks", "trigger", "review_create"] },
  { call: "webhooks.list", words: ["webhooks", "list"] },
  { call: "reviews.create", words: ["reviews", "create", ...review], keep: { upload: "image_upload_token" } },
  { call: "links.show", words: ["api", "links.show", "{token}"], token: "verify_url" },
  { call: "links.follow", words: ["api", "links.follow", "{token}"] },
  {
    call: "images.upload",
    words: ["api", "images.upload", "--image-upload-token", "{upload}", "--image", tinyPng],
    keep: { image_id: "image.id" },
  },
  { call: "images.get", words: ["api", "images.get", "{image_id}"] },
  {
    call: "reviews.createNow",
    words: ["api", "reviews.createNow", ...review, "--user-reference", "u"],
    keep: { review_id: "reviews.0.id" },
  },
  { call: "reviews.get", words: ["reviews", "get", "{review_id}"] },
  { call: "reviews.vote", words: ["api", "reviews.vote", "{review_id}", "up"] },
  { call: "reviews.update", words: ["api", "reviews.update", "{review_id}", "--review-score", "4"] },
  { call: "reviews.comment", words: ["reviews", "comment", "{review_id}", "--content", "Thank you"] },
  { call: "reviews.setPublished", words: ["reviews", "hide", "{review_id}", "--reason", "rude"] },
  { call: "reviews.setPublished", words: ["reviews", "publish", "{review_id}"] },
  { call: "reviews.requeue", words: ["reviews", "requeue", "{review_id}"] },
  { call: "reviews.queue", words: ["api", "reviews.queue"] },
  { call: "reviews.setPublished", words: ["reviews", "publish", "{review_id}"] },
  {
    call: "reviewRules.add",
    words: ["reviews", "rules", "add", "hold", "--word", "casino"],
    keep: { rule_id: "rule.id" },
  },
  { call: "reviewRules.list", words: ["reviews", "rules", "list"] },
  { call: "reviewRules.test", words: ["reviews", "rules", "test", "--content", "Casino"] },
  { call: "reviewRules.delete", words: ["reviews", "rules", "delete", "{rule_id}", "--yes"] },
  { call: "reviews.editComment", words: ["reviews", "edit-comment", "{review_id}", "--content", "Thanks"] },
  { call: "reviews.deleteComment", words: ["reviews", "delete-comment", "{review_id}", "--yes"] },
  { call: "reviews.history", words: ["reviews", "history", "{review_id}"] },
  { call: "reviews.widget", words: ["api", "reviews.widget", "teapot", "--sort", "rating", "--direction", "ASC"] },
  { call: "reviews.siteWidget", words: ["api", "reviews.siteWidget"] },
  { call: "reviews.bottomLine", words: ["reviews", "bottom-line", "teapot"] },
  { call: "reviews.bottomLines", words: ["reviews", "bottom-line"] },
  { call: "reviews.top", words: ["api", "reviews.top"] },
  { call: "reviews.list", words: ["reviews", "list", "--deleted"] },
  { call: "reviews.search", words: ["reviews", "list", "--email", "ann@mail.example", "--score", "1..5"] },
  { call: "orders.get", words: ["orders", "get", "1001"] },
  { call: "orders.search", words: ["orders", "list", "--email", "ann@mail.example", "--since", "2w"] },
  { call: "reviews.listByUser", words: ["api", "reviews.listByUser", "--user-reference", "u"] },
  {
    call: "batch.run",
    words: ["api", "batch.run", "--methods", json([{ method: "bottomline", params: { pid: "teapot" } }])],
  },
  { call: "webhookDeliveries.list", words: ["api", "webhookDeliveries.list"], keep: { delivery_id: "0.id" } },
  { call: "webhookDeliveries.get", words: ["api", "webhookDeliveries.get", "{delivery_id}"] },
  { call: "webhookDeliveries.redeliver", words: ["api", "webhookDeliveries.redeliver", "{delivery_id}"] },
  { call: "webhookDeliveries.attempts", words: ["api", "webhookDeliveries.attempts"] },
  { call: "webhooks.delete", words: ["webhooks", "delete", "{webhook_id}", "--yes"] },
  { call: "questions.sendConfirmation", words: ["questions", "ask", ...question] },
  { call: "links.follow", words: ["api", "links.follow", "{token}"], token: "confirm_url" },
  { call: "questions.search", words: ["questions", "list", "--unanswered", "--until", "today"] },
  { call: "questions.list", words: ["questions", "list", "teapot"], keep: { question_id: "0.id" } },
  { call: "questions.bottomLine", words: ["api", "questions.bottomLine", "teapot"] },
  {
    call: "answers.create",
    words: ["questions", "answer", "{question_id}", "--content", "Yes"],
    keep: { answer_id: "answer.id" },
  },
  { call: "answers.vote", words: ["api", "answers.vote", "{answer_id}", "up"] },
  { call: "answers.edit", words: ["questions", "edit-answer", "{answer_id}", "--content", "No"] },
  { call: "questions.setPublished", words: ["questions", "hide", "{question_id}"] },
  { call: "questions.setPublished", words: ["questions", "publish", "{question_id}"] },
  { call: "answers.delete", words: ["questions", "delete-answer", "{answer_id}", "--yes"] },
  { call: "questions.delete", words: ["questions", "delete", "{question_id}", "--yes"] },
  { call: "questions.history", words: ["questions", "history", "{question_id}"] },
  { call: "emails.sendTest", words: ["api", "emails.sendTest", "--email", "me@mail.example"] },
  { call: "emails.forecast", words: ["mail", "forecast"] },
  {
    call: "emails.stats",
    words: ["api", "emails.stats", "2026-01-01", "2026-12-31", "--categories", "map", "--aggregate", "year"],
  },
  { call: "emailRules.list", words: ["api", "emailRules.list"] },
  { call: "emailRules.set", words: ["api", "emailRules.set", "--name", "due_after_days", "--value", "7"] },
  { call: "emailRules.set", words: ["api", "emailRules.set", "--name", "due_after_days", "--value", "null"] },
  {
    call: "emailTemplates.set",
    words: [
      "api",
      "emailTemplates.set",
      "map",
      "--subject",
      "Hello",
      "--text",
      "Hello {{ unsubscribe_url }}",
      "--html",
      '<a href="{{ unsubscribe_url }}">No more</a>',
    ],
  },
  { call: "emailTemplates.get", words: ["api", "emailTemplates.get", "map", "--built-in"] },
  { call: "emailTemplates.list", words: ["api", "emailTemplates.list"] },
  { call: "emailTemplates.preview", words: ["api", "emailTemplates.preview", "map"] },
  { call: "emailTemplates.reset", words: ["api", "emailTemplates.reset", "map", "--yes"] },
  { call: "emails.list", words: ["api", "emails.list", "--order-id", "1001"], keep: { mail_id: "0.id" } },
  { call: "emails.get", words: ["api", "emails.get", "{mail_id}"] },
  { call: "emails.explain", words: ["api", "emails.explain", "1001"] },
  { call: "tracking.open", words: ["api", "tracking.open", "{token}"], token: "open" },
  { call: "tracking.click", words: ["api", "tracking.click", "{token}"], token: "click" },
  { call: "answerRequests.show", words: ["api", "answerRequests.show", "{token}"], token: "answer" },
  {
    call: "answerRequests.write",
    words: ["api", "answerRequests.write", "{token}", "--content", "Yes", "--display-name", "Ann"],
  },
  { call: "reviewRequests.show", words: ["api", "reviewRequests.show", "{token}"], token: "review" },
  { call: "reviewRequests.write", words: ["api", "reviewRequests.write", "{token}", ...typed] },
  { call: "campaigns.forecast", words: ["api", "campaigns.forecast", ...campaign] },
  {
    call: "campaigns.create",
    words: ["api", "campaigns.create", "--name", "May", ...campaign],
  },
  { call: "campaigns.list", words: ["api", "campaigns.list"], keep: { campaign_id: "0.id" } },
  { call: "campaigns.get", words: ["api", "campaigns.get", "{campaign_id}"] },
  { call: "campaigns.stop", words: ["api", "campaigns.stop", "{campaign_id}"] },
  { call: "campaigns.resume", words: ["api", "campaigns.resume", "{campaign_id}"] },
  { call: "myReviews.form", words: ["api", "myReviews.form"] },
  { call: "myReviews.request", words: ["api", "myReviews.request", "--email", "ann@mail.example"] },
  { call: "myReviews.show", words: ["api", "myReviews.show", "{token}"], token: "myReviews" },
  { call: "myReviews.change", words: ["api", "myReviews.change", "{token}", "--review", "0"] },
  { call: "emails.previewResend", words: ["api", "emails.previewResend", "--mail-ids", "[1]"] },
  { call: "emails.resend", words: ["api", "emails.resend", "--mail-ids", "[1]"] },
  ...(["emails.previewSend", "emails.send"] as const).map((call) => ({
    call,
    words: ["api", call, "--category", "mail_after_service", "--recipients", json([{ email: "solved@mail.example" }])],
  })),
  { call: "emails.cancel", words: ["api", "emails.cancel", "{mail_id}", "--yes"] },
  {
    call: "orders.cancelEmails",
    words: ["api", "orders.cancelEmails", "--orders", json([{ order_id: "1001" }]), "--yes"],
  },
  { call: "emailEvents.setUp", words: ["api", "emailEvents.setUp"], keep: { events_secret: "secret" } },
  { call: "emailEvents.receive", words: ["api", "emailEvents.receive", "--input", "-"], stdin: "{signed_events}" },
  { call: "emailSuppressions.lift", words: ["api", "emailSuppressions.lift", "--email", "rob@mail.example"] },
  { call: "customers.find", words: ["customers", "find", "mail.example"] },
  { call: "customers.get", words: ["api", "customers.get", "--email", "rob@mail.example"] },
  { call: "customers.export", words: ["api", "customers.export", "--email", "rob@mail.example"] },
  { call: "customers.planErasure", words: ["api", "customers.planErasure", "--email", "rob@mail.example"] },
  { call: "customers.erase", words: ["api", "customers.erase", "--email", "rob@mail.example", "--yes"] },
  { call: "customers.erasures", words: ["api", "customers.erasures"] },
];
