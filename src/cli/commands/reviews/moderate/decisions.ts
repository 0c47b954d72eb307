import type { QueueState } from "../../../../contract/reviews/queue-states.ts";
import type { Service } from "../../../../service/service.ts";
import type { OutputOf } from "../../../../service/transport.ts";
import { usageError } from "../../../../config/user-error.ts";
import { parseUserJson } from "../../operations/input-file.ts";

export type QueuedReview = OutputOf<"reviews.queue">["reviews"][number];

export const verbs = ["publish", "hide", "requeue", "skip"] as const;
type Verb = (typeof verbs)[number];

export interface Decision {
  readonly id: number;
  readonly decision: Verb;
  readonly reason?: string | undefined;
  readonly comment?: string | undefined;
  readonly by?: string | undefined;
}

/** The flags that select reviews, and name the moderator. */
export interface ModerationFlags {
  readonly state?: QueueState | undefined;
  readonly by?: string | undefined;
}

export const emptyQueue = "No reviews wait for a decision.";

/** What was decided, at the terminal or from a file. */
export interface DecisionSummary {
  readonly published: number;
  readonly hidden: number;
  readonly requeued: number;
  readonly skipped: number;
  readonly commented: number;
  readonly failed: number;
  readonly decisions: readonly (Decision & { readonly error?: string })[];
}

export type ModerationResult = readonly QueuedReview[] | DecisionSummary;

/** Applies a decision, and then its comment. */
export async function applyDecision(service: Service, { id, decision, reason, comment, by }: Decision): Promise<void> {
  const signed = by === undefined ? {} : { by };
  if (decision === "requeue") {
    await service.reviews.requeue({ review_id: id, ...signed, ...(reason !== undefined && { reason }) });
  } else if (decision !== "skip") {
    const published = decision === "publish";
    const recorded = reason ?? (published ? "published by a moderator" : "hidden by a moderator");
    await service.reviews.setPublished({ review_id: id, published, reason: recorded, ...signed });
  }
  if (comment !== undefined) await service.reviews.comment({ review_id: id, content: comment, ...signed });
}

export function summarize(decisions: DecisionSummary["decisions"]): DecisionSummary {
  const applied = decisions.filter(({ error }) => error === undefined);
  const count = (verb: Verb) => applied.filter(({ decision }) => decision === verb).length;
  return {
    published: count("publish"),
    hidden: count("hide"),
    requeued: count("requeue"),
    skipped: applied.filter(({ decision, comment }) => decision === "skip" && comment === undefined).length,
    commented: applied.filter(({ comment }) => comment !== undefined).length,
    failed: decisions.length - applied.length,
    decisions,
  };
}

export function describeSummary({ decisions: _decisions, ...counts }: DecisionSummary): string {
  const parts = Object.entries(counts).filter(([, count]) => count > 0);
  if (parts.length === 0) return "No decisions.";
  return `Reviews: ${parts.map(([name, count]) => `${count} ${name}`).join(", ")}.`;
}

/**
 * Parses decisions: one JSON object per line, or a JSON array.
 * @throws UserError `usage` naming the line
 */
export function parseDecisions(text: string): readonly Decision[] {
  const trimmed = text.replace(/^\uFEFF/, "").trim();
  if (trimmed === "") return [];
  if (trimmed.startsWith("[")) {
    const parsed = parseOne(trimmed, "the file") as readonly unknown[];
    return parsed.map((one, at) => checkDecision(one, `decision ${at + 1}`));
  }
  return trimmed.split(/\r?\n/).flatMap((line, at) => {
    const place = `line ${at + 1}`;
    return line.trim() === "" ? [] : [checkDecision(parseOne(line, place), place)];
  });
}

function parseOne(text: string, place: string): unknown {
  try {
    return parseUserJson(text);
  } catch (error) {
    throw usageError(`--decisions: ${place} is not valid JSON`, (error as Error).message);
  }
}

const optionalFields = ["reason", "comment", "by"] as const;

function checkDecision(value: unknown, place: string): Decision {
  const record = (typeof value === "object" && value !== null ? value : {}) as Readonly<Record<string, unknown>>;
  const { id, decision } = record;
  if (typeof id !== "number" || !Number.isInteger(id) || id < 1) {
    throw usageError(`--decisions: ${place} has no valid "id"`, 'Example: {"id": 12, "decision": "publish"}.');
  }
  const verb = verbs.find((known) => known === (decision === "reject" ? "hide" : decision));
  if (verb === undefined) {
    const given = decision === undefined ? "no" : "an unknown";
    throw usageError(`--decisions: ${place} has ${given} "decision"`, `Use one of: ${verbs.join(", ")}.`);
  }
  const texts = optionalFields.flatMap((name) => {
    const text = record[name];
    if (text === undefined || text === null) return [];
    if (typeof text !== "string") throw usageError(`--decisions: "${name}" of ${place} is not a text`);
    return [[name, text] as const];
  });
  return { id, decision: verb, ...Object.fromEntries(texts) };
}
