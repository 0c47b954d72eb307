import type { WebhookEvent } from "../../contract/index.ts";

interface Sample {
  readonly appKey: string;
  /** ISO 8601. */
  readonly at: string;
}

const person = { display_name: "Sam Example", email: "sam@mail.example" } as const;
const product = { product_id: "sample-product", product_title: "Sample product" } as const;

/** Data of an event that has not happened, with the fields of a real one. Nothing in it is stored. */
export function createSampleData(event: WebhookEvent, { appKey, at }: Sample): Readonly<Record<string, unknown>> {
  if (event === "unsubscribed") {
    return { email: person.email, email_type_id: 1, email_type: "reviews", unsubscribed_by: "USER", created_at: at };
  }
  if (event === "question_asked" || event === "question_answered") {
    const question = { id: 0, content: "Is this a test?", ...product, ...person, created_at: at, app_key: appKey };
    if (event === "question_asked") return question;
    return { ...question, answer: { id: 0, content: "Yes.", by_store: true, created_at: at } };
  }
  return {
    id: 0,
    title: "Sample review",
    content: "This review is a test.",
    score: 5,
    user_type: "User",
    verified_buyer: false,
    votes_up: 0,
    votes_down: 0,
    created_at: at,
    updated_at: at,
    deleted: event === "review_hidden",
    archived: false,
    new: true,
    app_key: appKey,
    sku: product.product_id,
    product_title: product.product_title,
    product_url: "https://shop.example/sample-product",
    customer_name: person.display_name,
    customer_email: person.email,
    order_id: null,
    ...(event.startsWith("review_comment") && {
      comment: event === "review_comment_deleted" ? null : { content: "Thank you.", created_at: at },
    }),
  };
}
