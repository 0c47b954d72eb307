import { defaultPublicUrl, findPublicUrl } from "../../../config/public-url.ts";
import { usageError } from "../../../config/user-error.ts";
import type { LocalProfile } from "../../../config/profile.ts";
import { countOf } from "../../../terminal/plural.ts";
import { toJson } from "../../../terminal/render.ts";
import type { WorkerOptions, WorkSummary } from "../../../app/ports.ts";
import type { Context } from "../../program/context.ts";
import { isForScripts } from "../../program/global-flags.ts";
import { requireLocalProfile } from "../../program/local-profile.ts";
import { listenForStop } from "../../program/stop-signals.ts";
import { createAnnouncer } from "../../program/output/messages.ts";

/**
 * Sends due emails and webhooks of the embedded database, once or until a signal arrives.
 * @returns the summary of a single run, otherwise undefined
 */
export async function runWork(
  context: Context,
  options: WorkerOptions,
  isOnce: boolean,
): Promise<WorkSummary | undefined> {
  const { io, messages, globals } = context;
  const profile = await readLocalProfile(context);
  const { openWorker } = await io.loadApp();
  // A person at the terminal sees the summary; log lines per email are for log files.
  const isInteractive = isOnce && io.isStderrTerminal;
  const logLevel = globals.verbose ? "debug" : globals.quiet || isInteractive ? "error" : "info";
  const announce = createAnnouncer(context);
  const signals = listenForStop(io, {});
  try {
    const host = await context.host();
    const { version, stderr: log } = io;
    const worker = await openWorker({ ...host, ...options, version, profile, logLevel, log });
    try {
      announce(`Sending due emails of ${profile.shownAs} to ${worker.emailTarget}.`);
      if ((options.publicUrl ?? findPublicUrl(io.env)) === undefined) announce(missingPublicUrl);
      if (isOnce) {
        const summary = await worker.runOnce(signals.stop);
        if (summary.problem !== null) announce(`Cannot send emails: ${summary.problem}`);
        if (summary.held > 0) {
          const held = `${countOf(summary.held, "email is", "emails are")} held.`;
          announce(
            `${held} To see why, run \`starpost mail list --state queued\` or \`starpost account email-status <app_key>\`.`,
          );
        }
        const remainder = describeRemainder(summary);
        if (remainder !== undefined) announce(remainder);
        return summary;
      }
      messages.flush();
      if (isForScripts(globals.format)) io.stdout.write(toJson({ event: "working", mails_to: worker.emailTarget }));
      await worker.run(signals.stop);
      return undefined;
    } finally {
      await worker.close();
    }
  } finally {
    signals.release();
  }
}

function describeRemainder({ state, mails, webhooks }: WorkSummary): string | undefined {
  if (state === "interrupted") return "Interrupted. The next run sends what is still due.";
  const deferred = mails.deferred + (webhooks["deferred"] ?? 0);
  if (deferred === 0) return undefined;
  return `${countOf(deferred, "delivery was", "deliveries were")} deferred. A later run or \`starpost serve\` retries.`;
}

async function readLocalProfile(context: Context): Promise<LocalProfile> {
  const profile = await requireLocalProfile(
    context,
    "its service sends its emails and webhooks",
    "To send those of the embedded database, use --profile local.",
  );
  if (profile.account === undefined) return profile;
  throw usageError("--account cannot be used here: emails and webhooks of all accounts are sent", "Remove --account.");
}

const missingPublicUrl = `Links in emails point to ${defaultPublicUrl}, which works on this machine only. To change it, use --public-url or STARPOST_PUBLIC_URL.`;
