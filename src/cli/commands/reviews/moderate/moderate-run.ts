import { type ErrorKind, ServiceError } from "../../../../contract/errors.ts";
import { listAll } from "../../../../service/listings.ts";
import type { Service } from "../../../../service/service.ts";
import { countOf } from "../../../../terminal/plural.ts";
import { confirmDestruction } from "../../../program/confirm.ts";
import type { Context } from "../../../program/context.ts";
import { isForScripts } from "../../../program/global-flags.ts";
import { canPrompt } from "../../../program/prompt.ts";
import {
  applyDecision,
  type Decision,
  type DecisionSummary,
  describeSummary,
  emptyQueue,
  type ModerationFlags,
  type ModerationResult,
  type QueuedReview,
  summarize,
  parseDecisions,
} from "./decisions.ts";
import { InputFiles } from "../../operations/input-file.ts";

interface ListFlags extends ModerationFlags {
  readonly decisions?: string | undefined;
  readonly limit?: number | undefined;
}

/** Errors that every further decision would have, too. */
const denials: ReadonlySet<ErrorKind> = new Set(["unauthorized", "roleDenied"]);

/** Lists the queue for scripts, applies decisions from a file, or lets a person decide at the terminal. */
export async function moderate(context: Context, flags: ListFlags): Promise<ModerationResult> {
  if (flags.decisions !== undefined) return applyFile(context, flags.decisions, flags.by);
  if (isForScripts(context.globals.format) || context.globals.format === "csv" || !canPrompt(context)) {
    const queue = await context.withService((service) => listQueue(service, flags));
    if (queue.length === 0 && !isForScripts(context.globals.format)) context.messages.info(emptyQueue);
    return queue;
  }
  const { decideAtTerminal } = await import("./moderate-screen.ts");
  return context.withService((service) => decideAtTerminal(context, service, flags));
}

async function listQueue(service: Service, { state, limit }: ListFlags): Promise<readonly QueuedReview[]> {
  const found: QueuedReview[] = [];
  const input = state === undefined ? {} : { state };
  for await (const page of listAll<QueuedReview>(service, "reviews.queue", { input, limit })) found.push(...page);
  return found;
}

async function applyFile(context: Context, file: string, by: string | undefined): Promise<DecisionSummary> {
  const decisions = parseDecisions((await new InputFiles(context.io).read(file, "--decisions")).toString("utf8"));
  const count = countOf(decisions.length, "decision");
  if ((await context.profile()).isLive) await confirmDestruction(context, `Apply ${count}?`);
  const done: DecisionSummary["decisions"][number][] = [];
  await context.withService(async (service) => {
    for (const one of decisions) {
      const decision: Decision = { ...one, by: one.by ?? by };
      try {
        await applyDecision(service, decision);
        done.push(decision);
      } catch (error) {
        if (!(error instanceof ServiceError) || error.temporary || denials.has(error.kind)) {
          context.messages.warn(`stopped at review ${decision.id}. ${describeSummary(summarize(done))}`);
          throw error;
        }
        done.push({ ...decision, error: error.message });
        context.messages.warn(`review ${decision.id}: ${error.message}`);
      }
    }
  });
  const summary = summarize(done);
  context.messages.info(describeSummary(summary));
  return summary;
}
