/** The default table columns of lists for which the first seven columns are not suitable. */
export const shownColumns: Readonly<Record<string, readonly string[]>> = {
  "core.listProducts": ["external_id", "name", "price", "currency", "url", "updated_at"],
  "emails.list": ["id", "category", "email", "state", "due_at", "sent_at", "order_id", "product_id"],
  "orders.list": ["id", "order_id", "order_date", "user_name", "user_email", "product_sku", "product_name"],
  "products.missed": ["id", "order_id", "product_sku", "product_name", "user_email", "missed_product_date"],
  "products.promoted": ["position", "name", "price", "currency", "average_score", "total_review", "url"],
  "questions.list": ["id", "content", "asker.display_name", "created_at"],
  "reviews.list": ["id", "created_at", "score", "sku", "title", "content"],
  "reviews.listByUser": ["id", "created_at", "score", "user.display_name", "title", "content"],
  "reviews.siteWidget": ["id", "created_at", "score", "title", "content", "user.display_name", "votes_up"],
  "reviews.top": ["id", "created_at", "score", "title", "content", "display_name", "product_name"],
  "reviews.widget": ["id", "created_at", "score", "title", "content", "user.display_name", "votes_up"],
  "webhookDeliveries.list": ["id", "webhook_id", "event_name", "state", "created_at", "attempts", "reason"],
};
