import type { OperationName } from "../../src/contract/index.ts";

/** What earlier calls left for later ones. */
export type Seen = Record<string, string>;

/** One command line that makes a call. Words in braces are what was seen so far. */
export interface CommandCall {
  readonly call: OperationName;
  readonly words: readonly string[];
  readonly stdin?: string;
  /** 0 where absent. */
  readonly status?: number;
  /** Names of what is to be remembered, and where it stands in the JSON that was printed. */
  readonly keep?: Readonly<Record<string, string>>;
  /** A token that only a mail tells, to be remembered as `token` before the call. */
  readonly token?: "verify_url" | "confirm_url" | "unsubscribe_url" | "review" | "open" | "click";
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
const typed = ["--score", "5", "--title", "Good", "--content", "Good", "--display-name", "Ann"];
const image = Buffer.from("GIF89a").toString("base64");

/** Every call of the contract by its command, in an order in which each finds what it needs. */
export const commandCalls: readonly CommandCall[] = [
  {
    call: "account.setPlatform",
    words: ["account", "set-platform", "--shop-domain", "http://shop.example", "--platform-type-id", "2"],
  },
  {
    call: "account.setFeature",
    words: ["account", "set-feature", "--feature", "dynamic_coupons", "--enabled"],
  },
  { call: "account.features", words: ["account", "features"] },
  { call: "tokens.create", words: ["tokens", "create"] },
  { call: "core.createToken", words: ["core", "create-token"] },
  {
    call: "users.create",
    words: [
      "users",
      "create",
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
  { call: "users.get", words: ["users", "get", "{user_id}"] },
  { call: "users.signIn", words: ["users", "sign-in"], keep: { code: "code" } },
  { call: "users.signedIn", words: ["users", "signed-in", "{code}"] },
  {
    call: "coupons.upload",
    words: ["coupons", "upload", "--coupon-action", "map_review", "--codes", "AAAA", "--codes", "BBBB"],
  },
  {
    call: "coupons.upload",
    words: ["coupons", "upload", "--coupon-action", "map_review", "--codes", "AAAA"],
    status: 3,
  },
  { call: "coupons.list", words: ["coupons", "list", "--details"] },
  { call: "coupons.stats", words: ["coupons", "stats"] },
  { call: "coupons.delete", words: ["coupons", "delete", "--coupon-action", "map_review", "--yes"] },
  {
    call: "unsubscribers.massCreate",
    words: ["unsubscribers", "mass-create", "--email-list", json({ 1: ["a@mail.example"] })],
  },
  {
    call: "unsubscribers.massCreate",
    words: ["unsubscribers", "mass-create", "--email-list", json({ 1: ["nobody"] })],
    status: 3,
  },
  { call: "unsubscribers.list", words: ["unsubscribers", "list"] },
  {
    call: "unsubscribers.massDelete",
    words: ["unsubscribers", "mass-delete", "--email-list", json({ 1: ["a@mail.example"] }), "--yes"],
  },
  {
    call: "products.massCreate",
    words: ["products", "mass-create", "--products", json({ teapot: product, pan: product })],
  },
  {
    call: "products.massUpdate",
    words: ["products", "mass-update", "--input", "-"],
    stdin: json({ products: { pan: product } }),
  },
  {
    call: "orders.massCreate",
    words: ["orders", "mass-create", "--platform", "general", "--orders", json([order]), "--send-mail"],
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
  { call: "core.listProducts", words: ["core", "list-products", "--limit", "1"] },
  { call: "core.listProducts", words: ["products", "list"] },
  { call: "groups.create", words: ["groups", "create", "--group-name", "pots"] },
  { call: "groups.update", words: ["groups", "update", "pots", "--product-ids-to-add", "teapot"] },
  { call: "groups.list", words: ["groups", "list"] },
  { call: "groups.get", words: ["groups", "get", "pots"] },
  { call: "groups.update", words: ["groups", "update", "pots", "--product-ids-to-remove", "teapot"] },
  { call: "groups.delete", words: ["groups", "delete", "pots", "--yes"] },
  { call: "seo.checkSubdomain", words: ["seo", "check-subdomain", "pots"] },
  { call: "seo.pageUrl", words: ["seo", "page-url", "--product-id", "teapot"] },
  { call: "seo.page", words: ["seo", "page"] },
  {
    call: "webhooks.create",
    words: ["webhooks", "create", "https://shop.example/hook"],
    keep: { webhook_id: "0.id" },
  },
  { call: "webhooks.list", words: ["webhooks", "list"] },
  { call: "reviews.create", words: ["reviews", "create", ...review], keep: { upload: "image_upload_token" } },
  { call: "links.show", words: ["links", "show", "{token}"], token: "verify_url" },
  { call: "links.follow", words: ["links", "follow", "{token}"] },
  {
    call: "images.upload",
    words: ["images", "upload", "--image-upload-token", "{upload}", "--image", image],
    keep: { image_id: "image.id" },
  },
  { call: "images.get", words: ["images", "get", "{image_id}"] },
  {
    call: "reviews.createNow",
    words: ["reviews", "create-now", ...review, "--user-reference", "u"],
    keep: { review_id: "reviews.0.id" },
  },
  { call: "reviews.get", words: ["reviews", "get", "{review_id}"] },
  { call: "reviews.vote", words: ["reviews", "vote", "{review_id}", "up"] },
  { call: "reviews.comment", words: ["reviews", "comment", "{review_id}", "--content", "Thank you"] },
  {
    call: "reviews.setPublished",
    words: ["reviews", "set-published", "{review_id}", "--no-published", "--reason", "rude"],
  },
  {
    call: "reviews.setPublished",
    words: ["reviews", "set-published", "{review_id}", "--published", "--reason", "fine"],
  },
  { call: "reviews.history", words: ["reviews", "history", "{review_id}"] },
  {
    call: "reviews.widget",
    words: ["reviews", "widget", "teapot", "--sort", "rating", "--direction", "ASC"],
  },
  { call: "reviews.siteWidget", words: ["reviews", "site-widget"] },
  { call: "reviews.bottomLine", words: ["reviews", "bottom-line", "teapot"] },
  { call: "reviews.bottomLines", words: ["reviews", "bottom-lines"] },
  { call: "reviews.top", words: ["reviews", "top"] },
  { call: "reviews.list", words: ["reviews", "list", "--deleted"] },
  { call: "reviews.listByUser", words: ["reviews", "list-by-user", "--user-reference", "u"] },
  {
    call: "batch.run",
    words: ["batch", "run", "--methods", json([{ method: "bottomline", params: { pid: "teapot" } }])],
  },
  {
    call: "webhookDeliveries.list",
    words: ["webhook-deliveries", "list"],
    keep: { delivery_id: "0.id" },
  },
  { call: "webhookDeliveries.get", words: ["webhook-deliveries", "get", "{delivery_id}"] },
  { call: "webhookDeliveries.redeliver", words: ["webhook-deliveries", "redeliver", "{delivery_id}"] },
  { call: "webhookDeliveries.attempts", words: ["webhook-deliveries", "attempts"] },
  { call: "webhooks.delete", words: ["webhooks", "delete", "{webhook_id}", "--yes"] },
  { call: "questions.sendConfirmation", words: ["questions", "send-confirmation", ...question] },
  { call: "links.follow", words: ["links", "follow", "{token}"], token: "confirm_url" },
  { call: "questions.list", words: ["questions", "list", "teapot"], keep: { question_id: "0.id" } },
  { call: "questions.bottomLine", words: ["questions", "bottom-line", "teapot"] },
  {
    call: "answers.create",
    words: ["answers", "create", "{question_id}", "--content", "Yes"],
    keep: { answer_id: "answer.id" },
  },
  { call: "answers.vote", words: ["answers", "vote", "{answer_id}", "up"] },
  { call: "emails.sendTest", words: ["emails", "send-test", "--email", "me@mail.example"] },
  { call: "emails.forecast", words: ["emails", "forecast"] },
  {
    call: "emails.stats",
    words: ["emails", "stats", "2026-01-01", "2026-12-31", "--categories", "map", "--aggregate", "year"],
  },
  { call: "emailRules.list", words: ["email-rules", "list"] },
  { call: "emailRules.set", words: ["email-rules", "set", "--name", "due_after_days", "--value", "7"] },
  { call: "emailRules.set", words: ["email-rules", "set", "--name", "due_after_days", "--value", "null"] },
  {
    call: "emailTemplates.set",
    words: [
      "email-templates",
      "set",
      "map",
      "--subject",
      "Hello",
      "--text",
      "Hello {{ unsubscribe_url }}",
      "--html",
      '<a href="{{ unsubscribe_url }}">No more</a>',
    ],
  },
  { call: "emailTemplates.get", words: ["email-templates", "get", "map", "--built-in"] },
  { call: "emailTemplates.list", words: ["email-templates", "list"] },
  { call: "emailTemplates.preview", words: ["email-templates", "preview", "map"] },
  { call: "emailTemplates.reset", words: ["email-templates", "reset", "map", "--yes"] },
  {
    call: "emails.list",
    words: ["emails", "list", "--order-id", "1001"],
    keep: { mail_id: "0.id" },
  },
  { call: "emails.get", words: ["emails", "get", "{mail_id}"] },
  { call: "emails.explain", words: ["emails", "explain", "1001"] },
  { call: "tracking.open", words: ["tracking", "open", "{token}"], token: "open" },
  { call: "tracking.click", words: ["tracking", "click", "{token}"], token: "click" },
  { call: "reviewRequests.show", words: ["review-requests", "show", "{token}"], token: "review" },
  { call: "reviewRequests.write", words: ["review-requests", "write", "{token}", ...typed] },
  { call: "emails.cancel", words: ["emails", "cancel", "{mail_id}", "--yes"] },
  {
    call: "orders.cancelEmails",
    words: ["orders", "cancel-emails", "--orders", json([{ order_id: "1001" }]), "--yes"],
  },
  { call: "emailEvents.setUp", words: ["email-events", "set-up"], keep: { events_secret: "secret" } },
  {
    call: "emailEvents.receive",
    words: ["email-events", "receive", "--input", "-"],
    stdin: "{signed_events}",
  },
  {
    call: "emailSuppressions.lift",
    words: ["email-suppressions", "lift", "--email", "rob@mail.example"],
  },
];
