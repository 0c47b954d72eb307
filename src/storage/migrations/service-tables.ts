import { type SchemaModule, sql } from "kysely";
import type { StorageDialect } from "../dialect.ts";
import { isRatedProduct, starAverage, starCount } from "../rating-sql.ts";
import { addColumns, addIndex, createKeyedTable, createOwned, type Migration } from "./table-builders.ts";

type Step = (schema: SchemaModule, dialect: StorageDialect) => Promise<void>;

/** Shoppers are users too, one per email address and account. */
const addShoppers: Step = async (schema) => {
  await schema
    .alterTable("users")
    .addColumn("kind", "text", (column) => column.notNull().defaultTo("owner"))
    .execute();
  await schema.alterTable("users").addColumn("email_key", "text").execute();
  await addIndex(schema, "users_by_email", "users", ["account_id", "email_key"], {
    isUnique: true,
    notNull: "email_key",
  });
  // For finding an account's owners, regardless of the number of shoppers.
  await addIndex(schema, "users_by_kind", "users", ["account_id", "kind", "id"]);
  // For checking whether an address bought a product, which makes a verified buyer.
  await createKeyedTable(schema, "order_emails", ["order_row"], { order_row: "bigint", email_key: "text" });
  await addIndex(schema, "order_emails_by_email", "order_emails", ["account_id", "email_key", "order_row"]);
};

const addReviews: Step = async (schema, dialect) => {
  await addColumns(createOwned(schema, "reviews", dialect), {
    "product_row?": "bigint",
    user_row: "bigint",
    shelf: "text",
    title: "text",
    content: "text",
    score: "integer",
    reviewer_type: "text",
    "user_reference?": "text",
    "domain?": "text",
    published: "integer",
    votes_up: "integer",
    votes_down: "integer",
    "comment?": "text",
    "comment_at?": "bigint",
    images: "integer",
    created_at: "bigint",
    updated_at: "bigint",
  }).execute();
  const byShelf = (name: string, ...columns: string[]) =>
    addIndex(schema, `reviews_by_${name}`, "reviews", ["shelf", "published", ...columns, "created_at", "id"]);
  await byShelf("date");
  await byShelf("score", "score");
  await byShelf("votes_up", "votes_up");
  await byShelf("votes_down", "votes_down");
  await byShelf("reviewer_type", "reviewer_type");
  // The indexes contain `published`, so that rows before the requested page need not be read.
  const byAccount = (name: string, ...columns: string[]) =>
    addIndex(schema, `reviews_by_account_${name}`, "reviews", ["account_id", ...columns, "id", "published"]);
  await byAccount("id");
  await byAccount("creation", "created_at");
  await byAccount("change", "updated_at");
  await byAccount("reference", "user_reference");
  await addIndex(
    schema,
    "reviews_of_products_by_score",
    "reviews",
    ["account_id", "published", "score", "created_at", "id"],
    { notNull: "product_row" },
  );
  await addIndex(schema, "reviews_by_product", "reviews", ["product_row", "id"]);

  await createKeyedTable(schema, "review_totals", ["shelf"], {
    shelf: "text",
    "product_row?": "bigint",
    stars_1: "integer",
    stars_2: "integer",
    stars_3: "integer",
    stars_4: "integer",
    stars_5: "integer",
    shown_reviews: "integer",
    shown_score: "integer",
    listed: "integer",
    updated_at: "bigint",
  });
  await schema
    .createIndex("review_totals_listed")
    .on("review_totals")
    .columns(["account_id", "product_row", "updated_at"])
    .where(sql<boolean>`listed = 1`)
    .execute();
  // For listing the best products, regardless of the number of products.
  await schema
    .createIndex("review_totals_best")
    .on("review_totals")
    .expression(sql`account_id, ${starAverage} desc, ${starCount} desc, product_row`)
    .where(isRatedProduct)
    .execute();
  await addColumns(createOwned(schema, "bottom_line_changes", dialect), {
    shelf: "text",
    reviews: "integer",
    score: "integer",
    due_at: "bigint",
  }).execute();
  await addIndex(schema, "bottom_line_changes_due", "bottom_line_changes", ["account_id", "due_at", "id"]);

  await addColumns(createOwned(schema, "review_events", dialect), {
    review_row: "bigint",
    event: "text",
    by_name: "text",
    "reason?": "text",
    created_at: "bigint",
  }).execute();
  await addIndex(schema, "review_events_by_review", "review_events", ["review_row", "id"]);
  await addColumns(createOwned(schema, "review_images", dialect), {
    review_row: "bigint",
    content_type: "text",
    base64: "text",
    created_at: "bigint",
  }).execute();
  await addIndex(schema, "review_images_by_review", "review_images", ["review_row", "id"]);
  await addColumns(createOwned(schema, "votes", dialect), {
    target: "text",
    target_row: "bigint",
    direction: "text",
    created_at: "bigint",
  }).execute();
};

const addQuestions: Step = async (schema, dialect) => {
  await addColumns(createOwned(schema, "questions", dialect), {
    product_row: "bigint",
    user_row: "bigint",
    content: "text",
    content_key: "text",
    user_type: "text",
    state: "text",
    created_at: "bigint",
    "confirmed_at?": "bigint",
  }).execute();
  await addIndex(schema, "questions_by_product", "questions", ["product_row", "state", "id"]);
  await addIndex(schema, "questions_by_content", "questions", ["product_row", "content_key"]);
  await addColumns(createOwned(schema, "answers", dialect), {
    question_row: "bigint",
    user_row: "bigint",
    content: "text",
    by_store: "integer",
    published: "integer",
    votes_up: "integer",
    votes_down: "integer",
    created_at: "bigint",
  }).execute();
  await addIndex(schema, "answers_by_question", "answers", ["question_row", "published"]);
  // Counted, so that a bottom line takes constant time.
  await createKeyedTable(schema, "question_totals", ["product_row"], {
    product_row: "bigint",
    questions: "integer",
    answers: "integer",
  });
};

const addGroups: Step = async (schema, dialect) => {
  await addColumns(createOwned(schema, "product_groups", dialect), {
    name: "text",
    created_at: "bigint",
    updated_at: "bigint",
  })
    .addUniqueConstraint("product_groups_name", ["account_id", "name"])
    .execute();
  await createKeyedTable(schema, "group_products", ["product_row"], {
    group_row: "bigint",
    product_row: "bigint",
  });
  await addIndex(schema, "group_products_by_account", "group_products", ["account_id", "product_row"]);
  await addIndex(schema, "group_products_by_group", "group_products", ["group_row", "product_row"]);
};

const addProductLists: Step = async (schema, dialect) => {
  await addColumns(createOwned(schema, "missed_products", dialect), {
    order_id: "text",
    product_sku: "text",
    product_name: "text",
    user_email: "text",
    user_name: "text",
    order_date: "bigint",
    created_at: "bigint",
  })
    .addUniqueConstraint("missed_products_line", ["account_id", "order_id", "product_sku"])
    .execute();
  await addIndex(schema, "missed_products_by_account", "missed_products", ["account_id", "id"]);
  await createKeyedTable(schema, "promoted_products", ["account_id", "position"], {
    position: "integer",
    product_row: "bigint",
  });
};

const addMails: Step = async (schema, dialect) => {
  await addColumns(createOwned(schema, "mails", dialect), {
    category: "text",
    email_type_id: "integer",
    email: "text",
    email_key: "text",
    name: "text",
    data: "text",
    state: "text",
    due_at: "bigint",
    created_at: "bigint",
  }).execute();
  await addIndex(schema, "mails_by_state", "mails", ["state", "due_at", "id"]);
  await addIndex(schema, "mails_by_account", "mails", ["account_id", "id"]);
  await createKeyedTable(schema, "mail_counts", ["account_id", "category", "day", "counter"], {
    category: "text",
    day: "bigint",
    counter: "text",
    mails: "bigint",
  });
};

const addWebhooks: Step = async (schema, dialect) => {
  await addColumns(createOwned(schema, "webhooks", dialect), {
    url: "text",
    event_name: "text",
    secret_sealed: "text",
    created_at: "bigint",
  })
    .addUniqueConstraint("webhooks_target", ["account_id", "event_name", "url"])
    .execute();
  await addColumns(createOwned(schema, "webhook_deliveries", dialect), {
    webhook_row: "bigint",
    event_id: "text",
    event_name: "text",
    body: "text",
    state: "text",
    due_at: "bigint",
    created_at: "bigint",
  }).execute();
  await addIndex(schema, "webhook_deliveries_by_state", "webhook_deliveries", ["state", "due_at", "id"]);
};

/** Counters for rate limits that several processes share. */
const addRateWindows: Step = async (schema) => {
  await createKeyedTable(schema, "rate_windows", ["account_id", "name"], {
    name: "text",
    started_at: "bigint",
    taken: "integer",
  });
};

export const serviceTables: Migration = {
  version: 2,
  name: "reviews, questions, groups, emails, webhooks",
  up: async (schema, dialect) => {
    await addShoppers(schema, dialect);
    await addReviews(schema, dialect);
    await addQuestions(schema, dialect);
    await addGroups(schema, dialect);
    await addProductLists(schema, dialect);
    await addMails(schema, dialect);
    await addWebhooks(schema, dialect);
    await addRateWindows(schema, dialect);
  },
};
