import * as z from "zod";
import { endpoint, extensionPrefix } from "../endpoint.ts";
import { emailStates } from "./categories.ts";
import { emailRuleNames } from "./rules.ts";
import { enveloped } from "../reply.ts";
import { shape, timestamp } from "../shapes.ts";
import { lazily } from "../lazily.ts";

/**
 * - `passed`: it does not hold, or did not when the mail was judged
 * - `decides`: it keeps the mail back
 * - `off`: the account has switched it off
 * - `not_asked`: one before it decides
 */
export const ruleResults = ["passed", "decides", "off", "not_asked"] as const;
export type RuleResult = (typeof ruleResults)[number];

const ruleEvaluation = lazily(() =>
  z.object({
    name: z.enum(emailRuleNames),
    says: z.string(),
    result: z.enum(ruleResults),
  }),
);
export type RuleEvaluation = z.output<ReturnType<typeof ruleEvaluation>>;

/** What became of the mail of a product of an order, or of the whole order, and which rule decided it. */
const emailExplanationShape = lazily(() =>
  z.object({
    /** What the mail is about; several where it is about the whole order. */
    products: z.array(
      z.object({
        product_id: z.string(),
        name: z.string(),
        /** Why the mail does not speak of it, where it speaks of others. */
        left_out_by: z.enum(emailRuleNames).nullable(),
      }),
    ),
    is_whole_order: z.boolean(),
    /** Nothing where there is no mail. */
    mail_id: z.number().int().nullable(),
    state: z.enum(emailStates).nullable(),
    decided_by: z.enum(emailRuleNames).nullable(),
    /** When it was sent, or kept back; or when it is due. */
    at: timestamp().nullable(),
    /** In one sentence, for a customer. */
    sentence: z.string(),
    /** Every rule in its order. Of a mail that waits, as it would be judged as things are now. */
    rules: z.array(ruleEvaluation()),
  }),
);
export type EmailExplanation = z.output<ReturnType<typeof emailExplanationShape>>;

export const emailExplanation = {
  explain: endpoint({
    summary: "Tell of an order why its mails were sent or not, rule by rule",
    method: "GET",
    paths: [`${extensionPrefix}/apps/{app_key}/orders/{order_id}/mails`],
    extension: "own",
    auth: "utoken",
    effect: "read",
    input: () => z.object({ order_id: shape.id, product_id: shape.id.optional() }),
    output: () =>
      z.object({
        order_id: z.string(),
        order_date: timestamp(),
        email: z.string(),
        customer_name: z.string(),
        /** When the order came to the service. */
        created_at: timestamp(),
        /** Whether it came as one that brings mails. */
        sends_mail: z.boolean(),
        decisions: z.array(emailExplanationShape()),
      }),
    reply: enveloped,
  }),
};
