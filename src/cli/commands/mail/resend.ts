import { silent } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { readEmail, stateFlag } from "../../program/flag-values.ts";
import { timeFlags, toTimeRange } from "../../program/relative-time.ts";
import { checkSelection, readIds, statusOfSelection } from "../../program/selection.ts";

/** An email in another state has arrived as far as is known, or may still be sent. */
const undelivered = ["bounced", "failed"] as const;

export default command({
  summary: "Resend review requests and reminders that did not arrive",
  calls: "write",
  argument: "[id...]",
  examples: [
    "starpost mail resend 12",
    "starpost mail resend --state bounced --since 2d",
    "starpost mail list --state failed --format ndjson --jq .id | starpost mail resend - --yes",
  ],
  notes: [
    "Shows who will get a copy, and asks. All email rules apply, and addresses that are unsubscribed or suppressed get none: after a bounce, run `starpost mail unsuppress` first. An email that was sent can be resent only by its ID.",
    "Copies are of the categories resend_map, resend_reminder, and resend_custom_map. Each email is resent once; if its copy does not arrive, resend the copy.",
  ],
  flags: {
    state: stateFlag(undelivered),
    email: { value: "<address>", description: "only emails to this address that bounced or failed", read: readEmail },
    ...timeFlags,
  },
  run: async (context, { arguments: given, flags }) => {
    const { state, email, since, until } = flags;
    const filters = Object.entries({ state, email, since, until }).flatMap(([name, value]) =>
      value === undefined ? [] : [name],
    );
    checkSelection(given, filters, ["starpost mail resend 12", "starpost mail resend --state bounced --since 2d"]);
    const ids = given.length > 0 ? await readIds(context.io, given, "<id>") : undefined;
    const query = {
      state: (state ?? undelivered).join(","),
      ...(email !== undefined && { email }),
      ...toTimeRange(flags, context.io.clock()),
    };
    const { resend } = await import("./resend-run.ts");
    return resend(context, { ids, query });
  },
  render: () => silent(),
  exitStatus: statusOfSelection,
});
