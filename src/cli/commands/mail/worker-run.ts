import { findPublicUrl } from "../../../config/public-url.ts";
import { UserError } from "../../../config/user-error.ts";
import type { LocalProfile } from "../../../config/profile.ts";
import { toJson } from "../../../terminal/render.ts";
import type { Working, WorkSummary } from "../../../app/ports.ts";
import type { Context } from "../../program/context.ts";
import { isForScripts } from "../../program/global-flags.ts";
import { listenForStop } from "../../program/stop-signals.ts";

/**
 * Sends the mails and webhooks of the embedded database: all that is due now, or until a signal comes.
 * @returns what was sent, where it was to be done once
 */
export async function runWork(
  context: Context,
  working: Working,
  isOnce: boolean,
): Promise<WorkSummary | undefined> {
  const { io, messages, globals } = context;
  const profile = await readLocalProfile(context);
  const { openWorker } = await io.loadApp();
  // Who watches is told the sum; the log of each mail is for files.
  const isWatched = isOnce && io.isStderrTerminal;
  const logLevel = globals.verbose ? "debug" : globals.quiet || isWatched ? "error" : "info";
  const signals = listenForStop(io, () => {});
  try {
    const host = await context.host();
    const { version, stderr: log } = io;
    const worker = await openWorker({ ...host, ...working, version, profile, logLevel, log });
    try {
      messages.warn(`Mails of ${profile.shownAs} that are due go to ${worker.mailsTo}.`);
      if ((working.publicUrl ?? findPublicUrl(io.env)) === undefined) messages.warn(withoutAddress);
      if (isOnce) {
        const summary = await worker.runOnce(signals.stop);
        if (summary.problem !== null) messages.warn(`No mail can be sent: ${summary.problem}`);
        const later = wordLater(summary);
        if (later !== undefined) messages.warn(later);
        return summary;
      }
      messages.flush();
      if (isForScripts(globals.format))
        io.stdout.write(toJson({ event: "working", mails_to: worker.mailsTo }));
      await worker.run(signals.stop);
      return undefined;
    } finally {
      await worker.close();
    }
  } finally {
    signals.release();
  }
}

/** What is left, where a person may think that all is done. */
function wordLater({ state, mails, webhooks }: WorkSummary): string | undefined {
  if (state === "interrupted") return "Stopped before all was sent: what is due waits for the next run.";
  const putOff = mails.deferred + (webhooks["deferred"] ?? 0);
  if (putOff === 0) return undefined;
  return `${putOff === 1 ? "What was put off is" : "Those put off are"} due again soon: a later run sends them, or \`starpost serve\`.`;
}

async function readLocalProfile(context: Context): Promise<LocalProfile> {
  const profile = await context.profile();
  if (profile.mode === "local") return profile;
  throw new UserError(
    "usage",
    `the profile ${profile.name} is remote: its mails and webhooks are sent where the service runs`,
    "Run it there, or use --profile local for those of the embedded database.",
  );
}

const withoutAddress =
  "Links in these mails lead to http://127.0.0.1:8080, which works on this machine alone: say where the service is reached with --public-url or STARPOST_PUBLIC_URL.";
