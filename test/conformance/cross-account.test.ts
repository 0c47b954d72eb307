import { expect, it } from "vitest";
import { type Endpoint, operations, type OperationName, ServiceError } from "../../src/contract/index.ts";
import { listOwnedTables } from "../../src/engine/accounts/deletion.ts";
import { fieldNames } from "../fuzz/endpoint-inputs.ts";
import { describeBackends, type Harness, type TestAccount } from "../support/backends.ts";
import { readEmails } from "../support/emails.ts";
import { fillVictim, marker, sharedKey, type VictimIds } from "../support/victim.ts";

type Input = Readonly<Record<string, unknown>>;

/** Every operation that reads or changes more with a token than without. */
const withToken = [...operations].filter(
  ([, { auth, acceptsUtoken }]) => auth === "utoken" || auth === "core" || acceptsUtoken === true,
);

/** Of these, anyone may call three; a token only makes the caller's texts trustworthy. */
const publicWithToken = new Set<OperationName>(["reviews.create", "questions.sendConfirmation", "myReviews.request"]);
const storeOnly = withToken.filter(([name]) => !publicWithToken.has(name));

/** Every operation of one account, including those for shoppers. */
const ofAccount = [...operations].filter(([, { auth }]) => auth !== "open");

/** Values by field name, which refer to the victim's records wherever a field can. */
function inputValues(ids: VictimIds): Input {
  const { reviewId, questionId, answerId, mailId, campaignId, webhookId, deliveryId, credentialId, accountSecret } =
    ids;
  const product = { name: "Changed", url: "https://changed.example/", image: "" };
  const order = { email: "ann@mail.example", customer_name: "Changed", order_id: "1001", order_date: "2026-03-02" };
  return {
    review_id: reviewId,
    image_id: ids.imageId,
    question_id: questionId,
    answer_id: answerId,
    mail_id: mailId,
    mail_ids: [mailId],
    campaign_id: campaignId,
    webhook_id: webhookId,
    delivery_id: deliveryId,
    credential_id: credentialId,
    role: "importer",
    order_id: "1001",
    group_name: "pots",
    product_id: "teapot",
    product_ids: ["pan"],
    product_ids_to_add: ["pan"],
    product_ids_to_remove: ["teapot"],
    products: { teapot: product },
    orders: [{ ...order, products: { teapot: product, pan: product } }],
    sku: "teapot",
    category: "map",
    coupon_action: "map_review",
    codes: ["CHANGED"],
    email_list: { 1: ["bob@mail.example"] },
    email_type_id: 1,
    account_platform: { shop_domain: "http://changed.example", platform_type_id: "3" },
    feature: "dynamic_coupons",
    enabled: false,
    url: "https://changed.example/hook",
    event_name: "review_create",
    content: "Changed",
    subject: "Changed",
    published: false,
    reason: "Changed",
    by: "Changed",
    platform: "general",
    details: true,
    deleted: true,
    built_in: false,
    rotate: true,
    rule_id: 1,
    action: "hold",
    words: ["changed"],
    links: 1,
    verification: "verified_buyer",
    public_key: "",
    missed_products_ids: "all",
    since_date: "2026-01-01",
    to_date: "2026-12-31",
    until_date: "2027-01-01",
    search: marker,
    unanswered: false,
    with_images: false,
    with_photos: false,
    verified: false,
    stars: [5],
    review_ids: [ids.reviewId],
    subdomain: "changed",
    secret: accountSecret,
    methods: ["bottomline", "main_widget"].map((method) => ({ method, params: { pid: "teapot" } })),
  };
}

const review = {
  sku: "teapot",
  product_title: "Changed",
  product_url: "https://changed.example/",
  display_name: "Changed",
  email: "changed@mail.example",
  review_content: "Changed",
  review_title: "Changed",
  review_score: 1,
};

const campaign = {
  category: "custom_map",
  emails_per_hour: 60,
  order_ids: ["1001"],
  emails: ["ann@mail.example"],
};

/** Values where a name means something else, or where a call with all fields would be invalid. */
const ownValues: Readonly<Partial<Record<OperationName, Input>>> = {
  "account.set": { name: "Changed" },
  "brand.set": { sender_name: "Changed" },
  "messages.list": { language: "en" },
  "messages.set": { language: "en", key: "page.mine.edit", text: "Change" },
  "messages.reset": { language: "en" },
  "brand.reset": { fields: ["sender_name"] },
  "account.setFeature": { feature: "dynamic_coupons", enabled: true },
  "campaigns.forecast": campaign,
  "campaigns.create": { ...campaign, name: "Changed" },
  "emailTemplates.set": {
    category: "map",
    subject: "Changed",
    text: "{% for product in products %}{{ product.review_url }}{% endfor %} {{ unsubscribe_url }}",
    html: "{% for product in products %}{{ product.review_url }}{% endfor %} {{ unsubscribe_url }}",
  },
  "emailTemplates.preview": { category: "map" },
  "emailRules.set": { name: "due_after_days", value: 3 },
  "emailEvents.receive": { body: "[]", webhook_id: "evt", webhook_timestamp: "1", webhook_signature: "v1,changed" },
  "emailSuppressions.lift": { email: `${marker}@mail.example` },
  "customers.get": { email: "ann@mail.example" },
  "customers.export": { email: "ann@mail.example" },
  "customers.planErasure": { email: "ann@mail.example" },
  "customers.erase": { email: `${marker}@mail.example` },
  "coupons.issue": { coupon_action: "map_review", email: "ann@mail.example" },
  "emails.list": { order_id: "1001" },
  "emails.sendTest": {},
  "emails.previewSend": { category: "mail_after_service", recipients: [{ email: `${marker}@mail.example` }] },
  "emails.send": { category: "mail_after_service", recipients: [{ email: `${marker}@mail.example` }] },
  "emails.statsOfAll": { since_date: "2026-03-01", to_date: "2026-03-31", categories: "map", aggregate: "week" },
  "emails.stats": { since_date: "2026-03-01", to_date: "2026-03-31", categories: "map", aggregate: "week" },
  // The victim's own names are taken, and its groups have products.
  "groups.create": { group_name: "cups" },
  "groups.delete": { group_name: "empty" },
  "products.massCreate": { products: { cup: { name: "Changed", url: "https://changed.example/" } } },
  "products.massUpdate": { products: { teapot: { name: "Changed again", url: "https://changed.example/" } } },
  "orders.create": {
    order_id: "1003",
    email: "ann@mail.example",
    customer_name: "Changed",
    order_date: "2026-03-02",
    products: { teapot: { name: "Changed", url: "https://changed.example/", image: "" } },
    platform: "general",
  },
  "reviewRules.test": { content: "Changed" },
  "reviews.create": review,
  "reviews.createNow": { ...review, past: { created_at: "2026-01-01T00:00:00Z" } },
  "questions.sendConfirmation": { ...review, product_id: "teapot" },
  "forms.submitReview": {
    product_id: "teapot",
    score: "1",
    title: "Changed",
    content: "Changed",
    display_name: "Changed",
    email: "changed@mail.example",
  },
  "myReviews.request": { email: "changed@mail.example" },
  "unsubscribers.massCreate": { email_list: { 1: ["carol@mail.example"] } },
  "webhookDeliveries.list": {},
};

/** Values of some fields, where those of another operation would change nothing. */
const otherValues: Readonly<Partial<Record<OperationName, Input>>> = {
  "reviews.queue": { state: undefined },
  "storefront.element": { element: "reviews", language: "en" },
  "reviews.search": { order_id: undefined, score: undefined },
  "reviewRules.add": { min_score: undefined, max_score: undefined },
  "reviews.update": { review_title: "Changed", review_content: "Changed", review_score: 1, past: { published: false } },
  "reviews.editComment": { content: "Changed again" },
};

/** Fields that select, sort, or extend, and refer to no record. */
const unusedFields = new Set(
  (
    "count page size limit start page_info sort aggregate state since_id since_updated_at since_purchase_id updated_at_min update_products_since_id " +
    "per_page star direction callback prevent_duplicate_review async validate_data send_mail text html display_name email categories user_reference name value bottom_lines_delay questions_page"
  ).split(" "),
);

function createInput(name: OperationName, { input }: Endpoint, ids: VictimIds): Input {
  const own = ownValues[name];
  if (own) return own;
  const values = { ...inputValues(ids), ...otherValues[name] };
  const known = fieldNames(input).filter((field) => !unusedFields.has(field));
  const unknown = known.filter((field) => !Object.hasOwn(values, field));
  // A new field may refer to a record of another account.
  if (unknown.length > 0) throw new Error(`${name} has fields that this test does not know: ${unknown.join(", ")}`);
  return Object.fromEntries(known.map((field) => [field, values[field]]));
}

/** Makes a call and returns its complete response as text. */
async function call(
  { transport }: Harness,
  name: OperationName,
  input: Input,
  caller: TestAccount["caller"],
  idempotencyKey?: string,
): Promise<{ readonly kind: string | undefined; readonly text: string }> {
  try {
    const output = await transport.call(name, input, caller, { idempotencyKey });
    return { kind: undefined, text: JSON.stringify(output) };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { kind, message, field, record, position, hint } = error;
    return { kind, text: JSON.stringify({ kind, message, field, record, position, hint }) };
  }
}

/** Every row of an account, by table. */
async function dump({ database }: Harness, accountId: number): Promise<ReadonlyMap<string, readonly string[]>> {
  const dumped = new Map<string, readonly string[]>();
  for (const { name } of [{ name: "accounts" }, ...(await listOwnedTables(database.dialect))]) {
    const owner = name === "accounts" ? "id" : "account_id";
    const rows = await database.db
      .selectFrom(name as "users")
      .selectAll()
      .where(owner as "account_id", "=", accountId)
      .execute();
    dumped.set(name, rows.map((row) => JSON.stringify(row)).toSorted());
  }
  return dumped;
}

async function openVictim(harness: Harness) {
  const victim = await harness.newAccount(`Owner ${marker}`);
  const accountId = await harness.newestAccountId();
  const ids = await fillVictim(harness, victim);
  const before = await dump(harness, accountId);
  const { appKey, utoken } = victim.caller;
  const secrets = [marker, victim.secret, appKey, utoken];
  return { victim, ids, before, secrets, dump: () => dump(harness, accountId) };
}

describeBackends("an operation with a token", (harness) => {
  it("reads and changes nothing of another account", async () => {
    const { victim, ids, before, secrets, dump: dumpVictim } = await openVictim(harness());
    const other = await harness().newAccount();
    const callers = {
      "the token of another account": { appKey: victim.caller.appKey, utoken: other.caller.utoken },
      "the app key of another account": { appKey: other.caller.appKey, utoken: victim.caller.utoken },
      "IDs of another account": other.caller,
    };
    for (const [title, caller] of Object.entries(callers)) {
      for (const [name, endpoint] of caller === other.caller ? ofAccount : storeOnly) {
        const input = createInput(name, endpoint, ids);
        const { kind, text } = await call(harness(), name, input, caller, sharedKey);
        const sent = JSON.stringify({ input, caller });
        const leaked = secrets.filter((secret) => text.includes(secret) && !sent.includes(secret));
        expect({ title, name, leaked }).toEqual({ title, name, leaked: [] });
        // With an optional token, the call is that of a shopper, who may not use all fields.
        const isRefused = endpoint.acceptsUtoken === true ? kind !== undefined : kind === "unauthorized";
        if (caller !== other.caller) expect({ title, name, isRefused }).toEqual({ title, name, isRefused: true });
      }
      expect(await dumpVictim()).toEqual(before);
    }
  });

  it("treats another account's token as none", async () => {
    const victim = await harness().newAccount();
    const other = await harness().newAccount();
    const { appKey } = victim.caller;
    // A token changes only whether requests for links are limited.
    for (const name of [...publicWithToken].filter((one) => one !== "myReviews.request")) {
      const created: unknown[] = [];
      const callers = [{ appKey }, { appKey, utoken: other.caller.utoken }, victim.caller];
      for (const [nth, caller] of callers.entries()) {
        // The product is new, because the emails contain its title only if the store has stated it.
        const product = `${name.replace(".", "-")}-${nth}`;
        await harness().transport.call(name, { ...review, sku: product, product_id: product }, caller);
        const { data } = (await readEmails(harness())).at(-1) ?? { data: {} };
        created.push(Object.entries(data).filter(([field]) => !/_(?:url|id)$/.test(field)));
      }
      const [anonymous, foreign, own] = created;
      expect([name, foreign]).toEqual([name, anonymous]);
      expect([name, own]).not.toEqual([name, anonymous]);
    }
  });

  it("responds as if there were no other account", async () => {
    const other = await harness().newAccount();
    const records = {
      reviewId: 1,
      imageId: 1,
      questionId: 1,
      answerId: 1,
      mailId: 1,
      webhookId: 1,
      deliveryId: 1,
      campaignId: 1,
    };
    const ids = { ...records, credentialId: 1, accountSecret: "changed" };
    const reads = ofAccount.filter(([, { effect }]) => effect === "read");
    const readAll = async () => {
      const responses: string[] = [];
      for (const [name, endpoint] of reads) {
        const { text } = await call(harness(), name, createInput(name, endpoint, ids), other.caller);
        responses.push(`${name}: ${text}`);
      }
      return responses;
    };
    const before = await readAll();
    await openVictim(harness());
    expect(await readAll()).toEqual(before);
  });

  it("reads or changes the account's own records", async () => {
    const { victim, ids, before, dump: dumpVictim } = await openVictim(harness());
    let previous = JSON.stringify([...before]);
    const problems: string[] = [];
    for (const [name, endpoint] of withToken.toSorted(([, a], [, b]) => orderOf(a) - orderOf(b))) {
      const { kind, text } = await call(harness(), name, createInput(name, endpoint, ids), victim.caller);
      if (kind) problems.push(`${name}: ${text}`);
      const now = endpoint.effect === "read" ? previous : JSON.stringify([...(await dumpVictim())]);
      const hasEffect = text.includes(marker) || now !== previous || withoutTexts.has(name);
      if (!hasEffect) problems.push(`${name}: no effect`);
      previous = now;
    }
    expect(problems).toEqual([]);
  });
});

/** Reads whose responses contain no text of the account, only numbers, states, or texts of the product. */
const withoutTexts = new Set<OperationName>([
  "campaigns.forecast",
  "reviewRules.test",
  "reviews.queue",
  "account.features",
  "customers.erasures",
  "customers.planErasure",
  "coupons.stats",
  "credentials.current",
  "emailRules.list",
  "emails.forecast",
  "emails.previewSend",
  "emails.stats",
  "emails.statsOfAll",
  "seo.checkSubdomain",
]);

/** Reads first, then writes, then whatever deletes the records that the others need. */
function orderOf({ effect, destroys, method }: Endpoint): number {
  if (effect === "read") return 0;
  return destroys || method === "DELETE" ? 2 : 1;
}
