import type { FieldCard, OperationCard } from "./operation-card.ts";
import { flagNameOf, isOwn, needsPassword } from "./operation-flags.ts";

/** Sample values of fields. A key with an operation's name applies to that operation only. */
const samples: Readonly<Record<string, string>> = {
  "account_platform.platform_type_id": "2",
  "account_platform.shop_domain": "http://shop.example",
  aggregate: "all",
  answer_id: "1",
  body: "'[]'",
  categories: "map",
  category: "map",
  code: "$CODE",
  codes: "SPRING-10",
  content: "'Thank you!'",
  customer_name: "'Ann Lee'",
  delivery_id: "1",
  display_name: "'Ann Lee'",
  email: "ann@mail.example",
  email_list: `'{"1": ["ann@mail.example"]}'`,
  event_name: "review_create",
  group_name: "teapots",
  html: `'<a href="{{ unsubscribe_url }}">Unsubscribe</a>'`,
  image: '"$(base64 -w0 teapot.png)"',
  image_id: "1",
  image_upload_token: "$TOKEN",
  mail_id: "1",
  methods: `'[{"method": "main_widget", "params": {"pid": "teapot"}}]'`,
  missed_products_ids: "all",
  name: "due_after_days",
  "orders.create products": `'{"teapot": {"name": "Teapot", "url": "https://shop.example/teapot"}}'`,
  order_id: "1001",
  "orders.massCreate orders": `'[{"order_id": "1001", "email": "ann@mail.example", "customer_name": "Ann Lee", "order_date": "2026-01-31", "products": {"teapot": {"name": "Teapot", "url": "https://shop.example/teapot"}}}]'`,
  "orders.cancelEmails orders": `'[{"order_id": "1001"}]'`,
  platform: "general",
  product_id: "teapot",
  product_ids: "teapot",
  product_title: "Teapot",
  product_url: "https://shop.example/teapot",
  products: `'{"teapot": {"name": "Teapot", "url": "https://shop.example/teapot"}}'`,
  published: "no",
  question_id: "1",
  reason: "'It names a person'",
  review_content: "'It pours well'",
  review_id: "1",
  review_score: "5",
  review_title: "'A good pot'",
  since_date: "2026-01-01",
  sku: "teapot",
  subdomain: "teapots",
  subject: "'How was it?'",
  text: "'How was it? Unsubscribe: {{ unsubscribe_url }}'",
  to_date: "2026-12-31",
  token: "$TOKEN",
  url: "https://shop.example/hook",
  "user.display_name": "'Ann Lee'",
  "user.email": "ann@mail.example",
  "user.url": "https://shop.example",
  user_id: "1",
  value: "7",
  vote_type: "up",
  webhook_id: "1",
};

/** Complete command lines that call an operation with all required fields. */
export function writeExamples(name: string, operation: string, card: OperationCard): readonly string[] {
  const required = card.fields.filter((field) => field.isRequired && !field.isSecret && !isOwn(field));
  const words = required.map((field) => {
    const sample = sampleOf(operation, field);
    if (field.isArgument) return sample;
    const flag = flagNameOf(field, card);
    if (field.type === "switch") return sample === "no" ? `--no-${flag}` : `--${flag}`;
    return `--${flag} ${sample}`;
  });
  const line = ["starpost", name, ...words].join(" ");
  if (needsPassword(card)) return [`${line} --password-stdin < password.txt`];
  return [line, card.listing ? `${line} --limit 100 --format ndjson` : `${line} --json`];
}

/** @throws Error if a required field has no sample; add one for a new field */
function sampleOf(operation: string, { path, oneOf, type }: FieldCard): string {
  const name = path.join(".");
  const sample = samples[`${operation} ${name}`] ?? samples[name] ?? oneOf?.[0];
  if (sample === undefined && type !== "switch")
    throw new Error(`the field ${name} of ${operation} has no sample`);
  return sample ?? "";
}
