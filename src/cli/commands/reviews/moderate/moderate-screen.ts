import { setTimeout } from "node:timers/promises";
import { UserError } from "../../../../config/user-error.ts";
import { ServiceError } from "../../../../contract/errors.ts";
import type { Service } from "../../../../service/service.ts";
import { createPaint, type Paint, resolveColors } from "../../../../terminal/colors.ts";
import { bracketedPaste, KeyReader } from "../../../../terminal/key-reader.ts";
import { promptText } from "../../../../terminal/prompt.ts";
import { sanitizeText } from "../../../../terminal/safe-text.ts";
import type { Context } from "../../../program/context.ts";
import { findUnguarded } from "../../../program/output/guarded-io.ts";
import { readMessageScreen } from "../../../program/output/screen.ts";
import { listenForStop } from "../../../program/stop-signals.ts";
import {
  applyDecision,
  type Decision,
  type DecisionSummary,
  describeSummary,
  emptyQueue,
  type ModerationFlags,
  type QueuedReview,
  summarize,
} from "./decisions.ts";
import { formatCard, helpLines, keyLine } from "./review-card.ts";

/** Reviews per call. */
const pageSize = 20;

/** Lines of the screen that are not content: heading, facts, images, comment, status, keys. */
const otherLines = 15;

const alternateScreen = { on: "\u001B[?1049h", off: "\u001B[?1049l", clear: "\u001B[2J\u001B[H" };

/**
 * Shows one review at a time and applies each decision immediately.
 * @throws UserError `interrupted`
 */
export async function decideAtTerminal(
  context: Context,
  service: Service,
  flags: ModerationFlags,
): Promise<DecisionSummary> {
  const session = new Session(context, service, flags);
  const first = await session.start();
  if (first === undefined) {
    context.messages.info(emptyQueue);
    return session.summary();
  }
  const { io } = context;
  const signals = listenForStop(io, {});
  const output = findUnguarded(io.stderr);
  output.write(alternateScreen.on + bracketedPaste.on);
  let end: "finished" | "quit" | "interrupted";
  try {
    end = await session.run(signals.stop);
  } finally {
    output.write(bracketedPaste.off + alternateScreen.off);
    signals.release();
  }
  const summary = session.summary();
  if (end === "finished") context.messages.info("No more reviews wait for a decision.");
  context.messages.info(describeSummary(summary));
  if (end === "interrupted") throw new UserError("interrupted", "interrupted; all decisions are saved");
  return summary;
}

/** How long the keys take to arrive that were pressed before the first review was shown, in milliseconds. */
const arrivalMs = 50;

/** Discards keys that were pressed before there was a review. */
async function discardEarlier(keys: KeyReader): Promise<void> {
  await setTimeout(arrivalMs);
  keys.discard();
}

/** A decision, with what reverts it. */
interface Done {
  readonly at: number;
  readonly label: string;
  readonly revert: () => Promise<void>;
}

class Session {
  readonly #context: Context;
  readonly #service: Service;
  readonly #flags: ModerationFlags;
  readonly #decisions: Decision[] = [];
  readonly #done: Done[] = [];
  #reviews: QueuedReview[] = [];
  #total = 0;
  #at = 0;
  #status = "";
  #paint: Paint | undefined;
  #keys: KeyReader | undefined;

  constructor(context: Context, service: Service, flags: ModerationFlags) {
    this.#context = context;
    this.#service = service;
    this.#flags = flags;
  }

  /** Reads the first page, and returns the first review, if there is one. */
  async start(): Promise<QueuedReview | undefined> {
    this.#paint = await createPaint(readMessageScreen(this.#context.io).isColored);
    await this.#readMore();
    return this.#reviews[0];
  }

  summary(): DecisionSummary {
    return summarize(this.#decisions);
  }

  /** Reads keys all the time, so that none of a fast sequence is lost. */
  async run(stop: AbortSignal): Promise<"finished" | "quit" | "interrupted"> {
    const keys = (this.#keys = new KeyReader(this.#context.io.stdin, stop));
    keys.open();
    try {
      return await this.#decideAll(keys, stop);
    } finally {
      keys.close();
    }
  }

  async #decideAll(keys: KeyReader, stop: AbortSignal): Promise<"finished" | "quit" | "interrupted"> {
    await discardEarlier(keys);
    while (!stop.aborted) {
      if (this.#at >= this.#reviews.length) await this.#readMore();
      const review = this.#reviews[this.#at];
      if (!review) return "finished";
      await this.#show(review);
      const key = await keys.next();
      if (key === "q" || key === "end" || key === "escape") return "quit";
      if (key === "interrupt") return "interrupted";
      this.#status = "";
      try {
        await this.#handle(key, review);
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        // Who pressed the next keys assumed that this decision was saved.
        keys.discard();
        this.#status = `Failed: ${error.message}`;
      }
    }
    return "interrupted";
  }

  async #handle(key: string, review: QueuedReview): Promise<void> {
    switch (key) {
      case "p":
        return this.#decide(review, "publish");
      case "h":
        return this.#decide(review, "hide");
      case "r": {
        const reason = await this.#ask("Reason (Enter saves, Esc cancels):");
        return reason === undefined ? undefined : this.#decide(review, "hide", reason);
      }
      case "c":
        return this.#comment(review);
      case "s":
      case "return":
      case "space":
        return this.#skip(review);
      case "u":
        return this.#undo();
      case "?":
        return this.#help();
      default:
        this.#status = "Unknown key. For help, press ?.";
    }
  }

  async #decide({ id }: QueuedReview, verb: "publish" | "hide", reason?: string): Promise<void> {
    const { by } = this.#flags;
    const decision: Decision = { id, decision: verb, reason, by };
    await applyDecision(this.#service, decision);
    this.#decisions.push(decision);
    const revert = async () => {
      await applyDecision(this.#service, { id, decision: "requeue", reason: "undone", by });
      this.#forget(id);
    };
    this.#move(verb === "publish" ? `Published review ${id}.` : `Hid review ${id}.`, revert);
  }

  #skip({ id }: QueuedReview): void {
    this.#decisions.push({ id, decision: "skip" });
    this.#move(`Skipped review ${id}.`, async () => this.#forget(id));
  }

  /** Removes the last decision on a review. */
  #forget(id: number): void {
    const at = this.#decisions.findLastIndex((decision) => decision.id === id);
    if (at !== -1) this.#decisions.splice(at, 1);
  }

  #move(label: string, revert: () => Promise<void>): void {
    this.#done.push({ at: this.#at, label, revert });
    this.#status = label;
    this.#at += 1;
  }

  async #comment({ id, comment: previous }: QueuedReview): Promise<void> {
    const content = await this.#ask("Comment (Enter saves, Esc discards):");
    if (content === undefined) return;
    const { by } = this.#flags;
    const signed = by === undefined ? {} : { by };
    const at = this.#at;
    await this.#service.reviews.comment({ review_id: id, content, ...signed });
    this.#decisions.push({ id, decision: "skip", comment: content });
    this.#replaceComment(at, content);
    const revert = async () => {
      const undone = { review_id: id, reason: "undone", ...signed };
      if (previous === null) await this.#service.reviews.deleteComment(undone);
      else await this.#service.reviews.editComment({ ...undone, content: previous });
      this.#forget(id);
      this.#replaceComment(at, previous);
    };
    this.#status = `Commented on review ${id}.`;
    this.#done.push({ at, label: this.#status, revert });
  }

  #replaceComment(at: number, comment: string | null): void {
    const review = this.#reviews[at];
    if (review) this.#reviews[at] = { ...review, comment };
  }

  async #undo(): Promise<void> {
    const last = this.#done.at(-1);
    if (!last) {
      this.#status = "Nothing to undo.";
      return;
    }
    await last.revert();
    this.#done.pop();
    this.#at = last.at;
    this.#status = `Undone: ${last.label}`;
  }

  async #help(): Promise<void> {
    this.#draw(["Keys", "", ...helpLines.map((line) => `  ${line}`), "", "Press any key to return."]);
    await this.#keys?.next();
  }

  /** Prompts below the review. Returns undefined for an empty or canceled answer. */
  async #ask(question: string): Promise<string | undefined> {
    const output = findUnguarded(this.#context.io.stderr);
    output.write("\n");
    const answer = await this.#keys?.lend((input, signal) => promptText(question, { input, output, signal }));
    if (answer !== undefined && answer.trim() !== "") return answer.trim();
    this.#status = "Discarded. Nothing was changed.";
    return undefined;
  }

  async #readMore(): Promise<void> {
    const last = this.#reviews.at(-1);
    const query = {
      count: pageSize,
      since_id: (last?.id ?? 0) + 1,
      ...(this.#flags.state && { state: this.#flags.state }),
    };
    const { total, reviews } = await this.#service.reviews.queue(query);
    this.#reviews.push(...reviews);
    if (!last) this.#total = total;
  }

  async #show(review: QueuedReview): Promise<void> {
    const { io } = this.#context;
    const { rows = 24 } = io.stderr as Partial<NodeJS.WriteStream>;
    const paint = this.#paint ?? (await createPaint(false));
    const { width } = readMessageScreen(io);
    const card = await formatCard(io.redactor?.data(review) ?? review, {
      position: `${this.#at + 1} of ${Math.max(this.#total, this.#reviews.length)}`,
      width: Math.min(width, 100),
      contentLines: Math.max(rows - otherLines, 3),
      nowMs: io.clock(),
      paint,
    });
    const status = this.#status === "" ? [] : [paint.green(sanitizeText(this.#status)), ""];
    this.#draw([...status, ...card, "", paint.dim(`${keyLine}  q quit`)]);
  }

  #draw(lines: readonly string[]): void {
    const text = lines.join("\r\n");
    findUnguarded(this.#context.io.stderr).write(`${alternateScreen.clear}${resolveColors(text)}`);
  }
}
