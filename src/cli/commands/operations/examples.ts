import type { FieldCard, OperationCard } from "./operation-card.ts";
import { flagNameOf, isOwn, needsPassword } from "./operation-flags.ts";

/** Sample values of fields; that of a number is 1. A key with an operation's name applies to that operation only. */
const samples: Readonly<Record<string, string>> = {
  "account_platform.platform_type_id": "2",
  "account_platform.shop_domain": "http://shop.example",
  aggregate: "all",
  body: "'[]'",
  categories: "map",
  campaign_id: "3",
  category: "map",
  "campaigns.create category": "custom_map",
  "campaigns.forecast category": "custom_map",
  "campaigns.create name": "May",
  "messages.set key": "email.map.subject",
  "messages.reset key": "email.map.subject",
  "messages.set text": '"How was your tea from {store}?"',
  emails_per_hour: "500",
  code: "$CODE",
  codes: "SPRING-10",
  content: "'Thank you!'",
  customer_name: "'Ann Lee'",
  display_name: "'Ann Lee'",
  email: "ann@mail.example",
  email_list: `'{"1": ["ann@mail.example"]}'`,
  event_name: "review_create",
  group_name: "teapots",
  html: `'<a href="{{ unsubscribe_url }}">Unsubscribe</a>'`,
  image: '"$(base64 -w0 teapot.png)"',
  image_upload_token: "$TOKEN",
  mail_ids: "'[12]'",
  recipients: `'[{"email": "ann@mail.example"}]'`,
  methods: `'[{"method": "main_widget", "params": {"pid": "teapot"}}]'`,
  missed_products_ids: "all",
  name: "due_after_days",
  "orders.create products": `'{"teapot": {"name": "Teapot", "url": "https://shop.example/teapot"}}'`,
  order_id: "1001",
  "orders.massCreate orders": `'[{"order_id": "1001", "email": "ann@mail.example", "customer_name": "Ann Lee", "order_date": "2026-01-31", "products": {"teapot": {"name": "Teapot", "url": "https://shop.example/teapot"}}}]'`,
  "questions.sendConfirmation review_content": "'Does it whistle?'",
  "orders.cancelEmails orders": `'[{"order_id": "1001"}]'`,
  platform: "general",
  product_id: "teapot",
  product_ids: "teapot",
  product_title: "Teapot",
  product_url: "https://shop.example/teapot",
  products: `'{"teapot": {"name": "Teapot", "url": "https://shop.example/teapot"}}'`,
  published: "no",
  reason: "'It names a person'",
  review_content: "'It pours well'",
  review_score: "5",
  review_title: "'A good pot'",
  search: "smith",
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
  value: "7",
  vote_type: "up",
};

/** With more required fields, an example reads them from a file. */
const manyFields = 3;

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
  if (card.listing) return [line, `${line} --limit 100 --format ndjson`];
  return [line, required.length > manyFields ? `starpost ${name} --input fields.json` : `${line} --json`];
}

/** @throws Error if a required field has no sample; add one for a new field */
function sampleOf(operation: string, { path, oneOf, type }: FieldCard): string {
  const name = path.join(".");
  const sample =
    samples[`${operation} ${name}`] ?? samples[name] ?? oneOf?.[0] ?? (type === "number" ? "1" : undefined);
  if (sample === undefined && type !== "switch") throw new Error(`the field ${name} of ${operation} has no sample`);
  return sample ?? "";
}
