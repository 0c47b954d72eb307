import { actorNames, type contract, recordNotFound, ruleLimits, ServiceError } from "../../../contract/index.ts";
import { readSettings, saveSetting } from "../../accounts/account-settings.ts";
import { accountOf, type HandlerContext, type Handlers } from "../../kernel/handler.ts";
import { iso } from "../../kernel/times.ts";
import { findReview } from "../review-parts.ts";
import { findHeldText } from "./holds.ts";
import { describeRule, findRule, parseRules, type ReviewToCheck, type StoredRules, toChecked } from "./rules.ts";

export const reviewRuleHandlers: Handlers<typeof contract.reviewRules> = {
  list: async (_input, context) => ({ rules: [...(await readRules(context)).rules] }),

  /**
   * @throws ServiceError `invalidParams` if the rule has no condition or the account has too many rules
   * Assumed: a rule applies to reviews that are written or verified later, never to imported ones, nor to those of the store.
   */
  add: async ({ by = actorNames.store, reason, ...given }, context) => {
    const { lastId, rules } = await readRules(context);
    if (rules.length >= ruleLimits.rules) {
      throw new ServiceError("invalidParams", `the account already has ${rules.length} rules`, {
        hint: "Delete a rule first, or add words to one.",
      });
    }
    const { action, words = [], links = null, min_score = null, max_score = null, verification = null } = given;
    const conditions = { action, words, links, min_score, max_score, verification };
    const described = describeRule(conditions);
    if (described === "") throw new ServiceError("invalidParams", "the rule has no condition");
    if (min_score !== null && max_score !== null && min_score > max_score) {
      throw new ServiceError("invalidParams", "min_score is greater than max_score", { field: "min_score" });
    }
    const id = lastId + 1;
    const rule = {
      id,
      ...conditions,
      description: described,
      reason: reason ?? described,
      by,
      created_at: iso(context.nowMs),
    };
    await saveRules({ lastId: id, rules: [...rules, rule] }, context);
    return { rule };
  },

  /** @throws ServiceError `recordNotFound` */
  delete: async ({ rule_id }, context) => {
    const { lastId, rules } = await readRules(context);
    const others = rules.filter(({ id }) => id !== rule_id);
    if (others.length === rules.length) throw recordNotFound("Rule", "id", rule_id);
    await saveRules({ lastId, rules: others }, context);
    return {};
  },

  /** @throws ServiceError `recordNotFound` */
  test: async ({ review_id, title, content, display_name, score, verification }, context) => {
    const found = review_id === undefined ? undefined : await readReview(review_id, context);
    const review: ReviewToCheck = {
      display_name: display_name ?? found?.display_name ?? "",
      review_title: title ?? found?.review_title ?? "",
      review_content: content ?? found?.review_content ?? "",
      review_score: score ?? found?.review_score ?? 5,
      reviewer_type: verification ?? found?.reviewer_type ?? "anonymous",
    };
    const rule = findRule((await readRules(context)).rules, review);
    if (rule) return { action: rule.action, rule_id: rule.id, reason: rule.reason };
    const reason = findHeldText(review) ?? null;
    return { action: reason === null ? null : "hold", rule_id: null, reason };
  },
};

async function readReview(id: number, context: HandlerContext): Promise<ReviewToCheck> {
  const { review, author } = await findReview(id, { accountId: accountOf(context).id, isPublished: false }, context);
  return toChecked(review, author.display_name);
}

async function readRules(context: HandlerContext): Promise<StoredRules> {
  const { review_rules: stored } = await readSettings(["review_rules"], context, accountOf(context).id);
  return parseRules(stored);
}

async function saveRules(rules: StoredRules, context: HandlerContext): Promise<void> {
  await saveSetting({ name: "review_rules", value: JSON.stringify(rules) }, context, accountOf(context).id);
}
