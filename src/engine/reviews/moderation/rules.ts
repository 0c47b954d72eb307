import {
  type contract,
  recordNotFound,
  type ReviewerType,
  type ReviewRule,
  ruleLimits,
  ServiceError,
} from "../../../contract/index.ts";
import { countLinks, findHeldText } from "./holds.ts";
import { readSettings, saveSetting } from "../../accounts/account-settings.ts";
import { accountOf, actorOf, type HandlerContext, type Handlers } from "../../kernel/handler.ts";
import { iso } from "../../kernel/times.ts";
import { findReview } from "../review-parts.ts";

/** The rules as stored: a setting of the account, because each new review needs all of them. */
interface StoredRules {
  /** Rules are never renumbered, because histories name them. */
  readonly lastId: number;
  readonly rules: readonly ReviewRule[];
}

/** The part of a review that rules examine. */
export interface ReviewToCheck {
  readonly display_name: string;
  readonly review_title: string;
  readonly review_content: string;
  readonly review_score: number;
  readonly reviewer_type: ReviewerType;
}

/** The author of the decisions of a rule, as histories show it. */
export const ruleAuthor = ({ id }: Pick<ReviewRule, "id">) => `RULE ${id}`;
export const isRuleAuthor = (name: string) => /^RULE \d+$/.test(name);

/** A stored review, as rules examine it. */
export function toChecked(
  review: { readonly title: string; readonly content: string; readonly score: number; readonly reviewer_type: string },
  display_name: string,
): ReviewToCheck {
  const { title, content, score, reviewer_type } = review;
  return {
    display_name,
    review_title: title,
    review_content: content,
    review_score: score,
    reviewer_type: reviewer_type as ReviewerType,
  };
}

/** Parses the value of the setting `review_rules`. */
export function parseRules(stored: unknown): StoredRules {
  return typeof stored === "string" ? (JSON.parse(stored) as StoredRules) : { lastId: 0, rules: [] };
}

type Conditions = Pick<ReviewRule, "words" | "links" | "min_score" | "max_score" | "verification">;

/** Finds the first rule that applies to a review. */
export function findRule(rules: readonly ReviewRule[], review: ReviewToCheck): ReviewRule | undefined {
  if (rules.length === 0) return undefined;
  const text = fold([review.display_name, review.review_title, review.review_content].join(" \n "));
  return rules.find((rule) => meets(rule, review, text));
}

function meets({ words, links, min_score, max_score, verification }: Conditions, review: ReviewToCheck, text: string) {
  if (min_score !== null && review.review_score < min_score) return false;
  if (max_score !== null && review.review_score > max_score) return false;
  if (verification !== null && !isOfType(review.reviewer_type, verification)) return false;
  if (words.length > 0 && !words.some((word) => containsWord(text, word))) return false;
  return links === null || countLinks(text) >= links;
}

function isOfType(type: ReviewerType, verification: NonNullable<ReviewRule["verification"]>): boolean {
  return verification === "verified" ? type !== "anonymous" : type === verification;
}

/** Wide and invisible characters could hide a word. */
function fold(text: string): string {
  return text
    .normalize("NFKC")
    .replaceAll(/\p{Cf}/gu, "")
    .toLowerCase()
    .replaceAll(/\s+/g, " ");
}

/** Whether a text contains a word or a phrase, not as a part of another word. */
function containsWord(text: string, word: string): boolean {
  const folded = fold(word).trim();
  const isPrefix = folded.endsWith("*");
  const wanted = isPrefix ? folded.slice(0, -1) : folded;
  if (wanted === "") return false;
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + 1)) {
    const after = text.slice(at + wanted.length, at + wanted.length + 2);
    if (!/[\p{L}\p{N}]$/u.test(text.slice(Math.max(0, at - 2), at)) && (isPrefix || !/^[\p{L}\p{N}]/u.test(after))) {
      return true;
    }
  }
  return false;
}

/** Describes the conditions of a rule: `score 1 to 2, 1 or more links`. */
function describeRule({ words, links, min_score, max_score, verification }: Conditions): string {
  const [low, high] = [min_score ?? 1, max_score ?? 5];
  return [
    ...(words.length > 0 ? [`contains ${words.map((word) => JSON.stringify(word)).join(" or ")}`] : []),
    ...(links === null ? [] : [`contains ${links} or more links`]),
    ...(min_score === null && max_score === null ? [] : [low === high ? `score ${low}` : `score ${low} to ${high}`]),
    ...(verification === null ? [] : [`reviewer is ${verification.replace("_", " ")}`]),
  ].join(", ");
}

export const reviewRuleHandlers: Handlers<typeof contract.reviewRules> = {
  list: async (_input, context) => ({ rules: [...(await readRules(context)).rules] }),

  /**
   * @throws ServiceError `invalidParams` if the rule has no condition or the account has too many rules
   * Assumed: a rule applies to reviews that are written or verified later, never to imported ones, nor to those of the store.
   */
  add: async ({ by, reason, ...given }, context) => {
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
      by: actorOf(context, by),
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
  const { review, author } = await findReview(id, context);
  return toChecked(review, author.display_name);
}

async function readRules(context: HandlerContext): Promise<StoredRules> {
  const { review_rules: stored } = await readSettings(["review_rules"], context, accountOf(context).id);
  return parseRules(stored);
}

async function saveRules(rules: StoredRules, context: HandlerContext): Promise<void> {
  await saveSetting({ name: "review_rules", value: JSON.stringify(rules) }, context, accountOf(context).id);
}
