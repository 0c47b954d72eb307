import { sql } from "kysely";
import { reviewHolds } from "../../../contract/index.ts";
import { dayMs } from "../../../contract/time.ts";
import { batchOf } from "../../../storage/batch.ts";
import { createStatement } from "../../../storage/statement.ts";
import { accountOf, type HandlerContext } from "../../kernel/handler.ts";

/** Top-level domains that are common in spam, in addition to all that have two letters. */
const domains =
  "com net org info biz name shop store online site website web app dev xyz top club live life fun link click " +
  "space vip win icu pro cloud work buzz tech blog agency email loan casino";

const names = domains
  .split(" ")
  .flatMap((name) => [name, name.toUpperCase(), name.slice(0, 1).toUpperCase() + name.slice(1)]);

/**
 * Matches a URL, or a host name such as `shop.example.com`. Assumed: before a country's domain, a single letter is an initial
 * ("J.de Vries"), and a capital letter after the dot begins a sentence ("Great.It works").
 */
const links = new RegExp(
  `(?:(?<!\\p{L})\\p{L}{2,12}://|(?<![\\p{L}\\p{N}])[wW]{3}\\.|` +
    `(?:(?<=[\\p{L}\\p{N}])\\.(?:${names.join("|")})|(?<=[\\p{L}\\p{N}]{2})\\.(?:[a-z]{2}|[A-Z]{2}))` +
    `(?![\\p{L}\\p{N}]))[^\\s,;|]*`,
  "gu",
);

/** Counts the links in a text. */
export function countLinks(text: string): number {
  // Wide and invisible characters could hide a link.
  const plain = text.normalize("NFKC").replaceAll(/\p{Cf}/gu, "");
  return plain.match(links)?.length ?? 0;
}

interface ReviewText {
  readonly display_name: string;
  readonly review_title: string;
  readonly review_content: string;
}

/** Returns why a visitor's text needs the store's approval, or undefined. */
export function findHeldText({ display_name, review_title, review_content }: ReviewText): string | undefined {
  if (countLinks(display_name) > 0) return "the name contains a link";
  if (countLinks(review_title) > 0) return "the title contains a link";
  const { maxLinks } = reviewHolds;
  return countLinks(review_content) > maxLinks ? `the content contains more than ${maxLinks} links` : undefined;
}

/**
 * Counts the anonymous reviews of rating targets that were published in the last 24 hours, as far as the limit requires.
 * Assumed: only published reviews count, so the limit applies to what strangers can publish in 24 hours.
 */
export async function countAnonymous(
  targets: ReadonlySet<string>,
  context: HandlerContext,
): Promise<Map<string, number>> {
  const { transaction, dialect, nowMs } = context;
  if (targets.size === 0) return new Map();
  const { rows } = await selectAnonymousCounts(transaction, dialect, {
    accountId: accountOf(context).id,
    sinceMs: nowMs - dayMs,
    rows: JSON.stringify(Array.from(targets, (target) => [target])),
  });
  return new Map(rows.map(({ target, reviews }) => [target, reviews]));
}

const selectAnonymousCounts = createStatement<
  { accountId: number; sinceMs: number; rows: string },
  { readonly target: string; readonly reviews: number }
>(
  (slot, dialect) => sql`
    select batch.target, (select count(*) from (
      select 1 from reviews
      where reviews.account_id = ${slot("accountId")} and reviews.rating_target = batch.target and reviews.published = 1
        and reviews.reviewer_type = 'anonymous' and reviews.moderation is null
        and reviews.created_at > ${slot("sinceMs")}
      limit ${sql.lit(reviewHolds.maxAnonymousPerDay)}) as latest) as reviews
    from ${batchOf({ target: "text" }, slot("rows"), dialect)}`,
);

/** Returns why another anonymous review of a rating target needs the store's approval, or undefined. */
export function findHeldFlood(anonymousReviews: number): string | undefined {
  const { maxAnonymousPerDay } = reviewHolds;
  if (anonymousReviews < maxAnonymousPerDay) return undefined;
  return `the product has ${maxAnonymousPerDay} anonymous reviews of the last 24 hours`;
}
