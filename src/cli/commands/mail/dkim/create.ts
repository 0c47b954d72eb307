import { invalidValue } from "../../../../config/user-error.ts";
import { command } from "../../../program/command.ts";
import { confirm } from "../../../program/confirm.ts";

export default command({
  summary: "Create the key that signs emails (DKIM), and print its DNS record",
  database: "optional",
  isLocalChange: true,
  examples: ["starpost mail dkim create", "starpost mail dkim create --selector shop1 --yes --json"],
  flags: {
    selector: {
      value: "<name>",
      description: "name of the key in DNS (default: starpost; for another key, starpost2)",
      read: parseSelector,
    },
  },
  notes: [
    "The key is for the domain of the sender (`starpost mail configure --from`). Publish the record, and run `starpost mail " +
      "dkim check`. Restart workers, or send SIGHUP to running servers: from then on, all emails are signed.",
    "To replace a key, run the command again. Keep the record of the old key for a week, for emails that are still on their way.",
  ],
  run: async (context, { flags: { selector } }) => {
    const { findLocalProfile } = await import("../../serve/server-run.ts");
    await findLocalProfile(context, "has mail settings on this machine");
    const { readDkimKey } = await import("../../../../config/dkim-key.ts");
    const host = await context.host();
    const replaced = await readDkimKey(host.paths).catch(() => undefined);
    if (replaced) await confirm(context, `Replace the DKIM key ${replaced.selector} of ${replaced.domain}?`);
    const { createDkimKey } = await context.io.loadApp();
    const key = await context.change(`${replaced ? "Replace the" : "Create a"} DKIM key`, () =>
      createDkimKey(host, selector),
    );
    context.messages.info("Publish this record, then run `starpost mail dkim check`.");
    return key;
  },
});

/** Source: RFC 6376 3.1. */
function parseSelector(text: string, source: string): string {
  const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
  if (text.length <= 100 && text.split(".").every((part) => label.test(part))) return text;
  throw invalidValue(text, source, "a DNS name in lower case, such as shop1");
}
