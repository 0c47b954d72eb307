import type { FieldCard, OperationCard } from "./operation-card.ts";
import { isOnlyInside, isOwn, needsPassword } from "./input.ts";
import { flagNameOf } from "./names.ts";

/** Values that stand for the fields of a call in its example; those of one call come first. */
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
  html: `'<a href="{{ unsubscribe_url }}">No more mails</a>'`,
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
  text: "'How was it? No more mails: {{ unsubscribe_url }}'",
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

/** A whole command line that makes a call, with what it must be given. */
export function writeExample(name: string, operation: string, card: OperationCard): string {
  const needed = card.fields.filter((field) => field.isRequired && !field.isSecret && !isOwn(field));
  const words = needed.map((field) => {
    const sample = sampleOf(operation, field);
    if (field.isArgument) return sample;
    const flag = flagNameOf(field.path, isOnlyInside(card));
    if (field.type === "switch") return sample === "no" ? `--no-${flag}` : `--${flag}`;
    return `--${flag} ${sample}`;
  });
  const password = needsPassword(card) ? ["--password-stdin < password.txt"] : [];
  return ["starpost", name, ...words, ...password].join(" ");
}

/** @throws Error where a field that must be given has no sample: a new one is to be given one */
function sampleOf(operation: string, { path, oneOf, type }: FieldCard): string {
  const name = path.join(".");
  const found = samples[`${operation} ${name}`] ?? samples[name] ?? oneOf?.[0];
  if (found === undefined && type !== "switch")
    throw new Error(`the field ${name} of ${operation} has no sample`);
  return found ?? "";
}
