import type { Endpoint } from "../../src/contract/index.ts";

/** What a generated request may refer to: the account's keys and the IDs of its records. */
export interface Seeded {
  readonly appKey: string;
  readonly secret: string;
  readonly utoken: string;
  readonly userId: number;
  readonly reviewId: number;
}

interface Definition {
  readonly shape?: Readonly<Record<string, unknown>>;
  readonly in?: unknown;
  readonly innerType?: unknown;
}

/** Returns the field names of an input schema, unwrapping any wrappers around its object schema. */
export function fieldNames(schema: unknown): readonly string[] {
  const { def } = schema as { readonly def: Definition };
  if (def.shape) return Object.keys(def.shape);
  const inner = def.innerType ?? def.in;
  return inner === undefined ? [] : fieldNames(inner);
}

/** Returns the fields of a request with valid values, so that only the later corruption is wrong. */
export function validInput(endpoint: Endpoint, seeded: Seeded): Readonly<Record<string, unknown>> {
  const values = validValues(seeded);
  const known = fieldNames(endpoint.input).filter((name) => Object.hasOwn(values, name));
  return Object.fromEntries(known.map((name) => [name, values[name]]));
}

/** Valid values by field name; a name means the same in every operation. */
function validValues({ appKey, secret, userId, reviewId }: Seeded): Readonly<Record<string, unknown>> {
  const product = { name: "Teapot", url: "https://shop.example/teapot", image: "", specs: { upc: "4711" } };
  const order = {
    email: "ann@mail.example",
    customer_name: "Ann",
    order_id: "1001",
    order_date: "2026-03-01",
    products: { teapot: product },
  };
  return {
    ...order,
    ...reviewValues,
    account_platform: { shop_domain: "http://shop.example", platform_type_id: "2" },
    answer_id: "1",
    async: true,
    client_id: appKey,
    client_secret: secret,
    code: "nonsense",
    codes: ["AAAA", "BBBB"],
    content: "It does not.",
    coupon_action: "map_review",
    delivery_id: "1",
    email_list: { 1: ["ann@mail.example"] },
    enabled: true,
    event_name: "review_create",
    feature: "dynamic_coupons",
    grant_type: "client_credentials",
    group_name: "pots",
    image: "iVBORw0KGgo=",
    image_id: "1",
    image_upload_token: "nonsense",
    methods: [{ method: "bottomline", params: { pid: "teapot" } }],
    orders: [order],
    platform: "general",
    product_id: "teapot",
    product_ids: ["teapot"],
    product_ids_to_add: ["teapot"],
    product_ids_to_remove: ["teapot"],
    published: true,
    question_id: "1",
    reason: "Asked for",
    review_id: String(reviewId),
    secret,
    token: "nonsense",
    url: "https://shop.example/hook",
    user: { email: "jo@shop.example", display_name: "Jo", password: "correct horse", url: "https://jo.example" },
    user_id: String(userId),
    validate_data: true,
    vote_type: "up",
    webhook_id: "1",
    ...queryValues,
  };
}

const reviewValues = {
  display_name: "Jane Doe",
  domain: "shop.example",
  prevent_duplicate_review: true,
  product_description: "Holds tea",
  product_image_url: "https://shop.example/teapot.png",
  product_title: "Teapot",
  product_url: "https://shop.example/teapot",
  review_content: "It pours well.",
  review_score: 5,
  review_title: "Good pot",
  sku: "teapot",
  user_reference: "u-77",
} as const;

const queryValues = {
  aggregate: "day",
  categories: "map,reminder",
  count: "10",
  deleted: "true",
  direction: "ASC",
  limit: "10",
  missed_products_ids: "all",
  page: "1",
  per_page: "10",
  since_date: "2026-03-01",
  since_id: "1",
  since_updated_at: "2026-03-01",
  size: "10",
  sort: ["date"],
  star: "5",
  start: "0",
  subdomain: "teashop",
  to_date: "2026-03-02",
  updated_at_min: "2026-03-01T00:00:00Z",
} as const;
