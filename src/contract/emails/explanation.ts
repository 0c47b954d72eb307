import * as z from "zod";
import { endpoint, extensionPrefix, ownOperation, route } from "../endpoint.ts";
import { emailStates } from "./categories.ts";
import { emailRuleNames } from "./rules.ts";
import { shape, timestamp } from "../shapes.ts";
import { lazyObject } from "../lazy-object.ts";

/**
 * - `passed`: the rule does not apply, or did not when the email was evaluated
 * - `decides`: the rule prevents the email
 * - `off`: the account has turned the rule off
 * - `not_asked`: not evaluated, because an earlier rule decides
 */
export const ruleResults = ["passed", "decides", "off", "not_asked"] as const;
export type RuleResult = (typeof ruleResults)[number];

const ruleEvaluation = lazyObject(() => ({
  name: z.enum(emailRuleNames),
  description: z.string(),
  result: z.enum(ruleResults),
}));
export type RuleEvaluation = z.output<ReturnType<typeof ruleEvaluation>>;

/** What happened to the email about a product of an order, or about the entire order, and which rule decided. */
const decision = lazyObject(() => ({
  /** Products that the email is about: one, or several if it is about the entire order. */
  products: z.array(
    z.object({
      product_id: z.string(),
      name: z.string(),
      /** Rule that excludes the product from an email about other products of the order. */
      dropped_by: z.enum(emailRuleNames).nullable(),
    }),
  ),
  is_whole_order: z.boolean(),
  /** Null if there is no email. */
  mail_id: z.number().int().nullable(),
  state: z.enum(emailStates).nullable(),
  decided_by: z.enum(emailRuleNames).nullable(),
  /** When it was sent or rejected by a rule, or when it is due. */
  at: timestamp().nullable(),
  /** Explanation in one sentence, suitable for a customer. */
  sentence: z.string(),
  /** All rules, in order. For a queued email, evaluated with current data. */
  rules: z.array(ruleEvaluation()),
}));
export type ExplainedDecision = z.output<ReturnType<typeof decision>>;

export const explanationOperations = {
  explain: endpoint({
    summary: "Explain why an order's review-request emails were or were not sent",
    ...route("GET", `${extensionPrefix}/apps/{app_key}/orders/{order_id}/mails`),
    ...ownOperation,
    effect: "read",
    input: () => ({ order_id: shape.id, product_id: shape.id.optional() }),
    output: () => ({
      order_id: z.string(),
      order_date: timestamp(),
      email: z.string(),
      customer_name: z.string(),
      /** When the service received the order. */
      created_at: timestamp(),
      /** Whether the order was imported with emails enabled. */
      sends_mail: z.boolean(),
      decisions: z.array(decision()),
    }),
  }),
};
