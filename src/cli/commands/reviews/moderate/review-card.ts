import { dayMs, hourMs } from "../../../../contract/time.ts";
import type { Paint } from "../../../../terminal/colors.ts";
import { countOf } from "../../../../terminal/plural.ts";
import { sanitizeText } from "../../../../terminal/safe-text.ts";
import { layoutFor } from "../../../../terminal/text-layout.ts";
import type { QueuedReview } from "./decisions.ts";

interface CardSettings {
  readonly position: string;
  readonly width: number;
  /** The number of lines for the content; more are cut off. */
  readonly contentLines: number;
  readonly nowMs: number;
  readonly paint: Paint;
}

export const keyLine = "p publish  h hide  r hide (reason)  c comment  s skip  u undo  ? help";

export const helpLines: readonly string[] = [
  "p  publish the review",
  "h  hide the review",
  "r  hide the review and give a reason",
  "c  comment on the review as the store, and stay on it (Esc discards the comment)",
  "s  skip the review; it stays in the queue",
  "u  undo the last decision, and return to its review",
  "q  quit; all decisions are saved",
];

const reviewerNames: Readonly<Record<string, string>> = {
  anonymous: "not verified",
  verified_buyer: "verified buyer",
  verified_reviewer: "verified address",
};

/** Formats a review for a decision. */
export async function formatCard(review: QueuedReview, settings: CardSettings): Promise<readonly string[]> {
  const { position, width, contentLines, nowMs, paint } = settings;
  const { score, title, content, name, email, reviewer_type: type, sku, product_title, order_id: order } = review;
  const { images, comment, held_because: reason, created_at } = review;
  const layout = await layoutFor([title, content, name, product_title ?? "", comment ?? "", reason]);
  const clean = (text: string) => sanitizeText(text);
  const fit = (text: string) => layout.truncate(clean(text), width);
  const wrap = (text: string) =>
    text.split(/\r?\n/).flatMap((line) => layout.wrap(clean(line), width - 2).map((part) => `  ${part}`));
  const paragraphs = wrap(content);
  const cut = paragraphs.length - contentLines;
  const body = cut > 0 ? [...paragraphs.slice(0, contentLines - 1), `  … ${cut + 1} more lines`] : paragraphs;
  const product = product_title === null ? sku : `${product_title} (${sku})`;
  const stars = "★".repeat(score) + "☆".repeat(5 - score);
  const heading = `Review ${review.id} · ${position}`;
  return [
    paint.dim(fit(`${heading} · written ${formatAge(created_at, nowMs)}`)),
    "",
    `${paint.yellow(stars)}  ${paint.bold(layout.truncate(clean(title), width - 7))}`,
    fit(`${name} <${email}> · ${reviewerNames[type] ?? type}`),
    fit(`${product} · ${order === null ? "no order found" : `order ${order}`}`),
    `${paint.yellow("Held:")} ${layout.truncate(clean(reason), width - 6)}`,
    "",
    ...body,
    ...(images.length > 0 ? ["", fit(`${countOf(images.length, "image")}: ${images[0] ?? ""}`)] : []),
    ...(comment === null ? [] : ["", fit(`Comment of the store: ${comment}`)]),
  ];
}

function formatAge(timestamp: string, nowMs: number): string {
  const ms = nowMs - Date.parse(timestamp);
  if (ms < hourMs) return "less than an hour ago";
  if (ms < dayMs) return `${countOf(Math.floor(ms / hourMs), "hour")} ago`;
  return `${countOf(Math.floor(ms / dayMs), "day")} ago`;
}
