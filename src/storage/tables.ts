import type { Selectable } from "kysely";
import type { AccountTables } from "./tables/accounts.ts";
import type { CustomerTables } from "./tables/customers.ts";
import type { EmailTables } from "./tables/emails.ts";
import type { OrderTables } from "./tables/orders.ts";
import type { ProductTables } from "./tables/products.ts";
import type { QuestionTables } from "./tables/questions.ts";
import type { ReviewTables } from "./tables/reviews.ts";
import type { WebhookTables } from "./tables/webhooks.ts";

/** All tables. In all dialects, times are milliseconds since the epoch (UTC), and flags are 0 or 1. */
export interface Tables
  extends
    AccountTables,
    CustomerTables,
    ProductTables,
    OrderTables,
    ReviewTables,
    QuestionTables,
    EmailTables,
    WebhookTables {}

export type Row<T extends keyof Tables> = Selectable<Tables[T]>;

export type { PublicKind } from "./tables/accounts.ts";
