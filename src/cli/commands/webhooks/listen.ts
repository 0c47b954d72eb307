import { command } from "../../program/command.ts";
import { invalidValue, usageError } from "../../../config/user-error.ts";
import { readAge } from "../../program/flag-values.ts";

export default command({
  summary: "Show webhook deliveries as they happen, until Ctrl-C",
  examples: [
    "starpost webhooks listen",
    "starpost webhooks listen --forward-to localhost:3000/hook --print-body",
    "starpost webhooks listen --since 12h --format ndjson",
  ],
  flags: {
    since: { value: "<age>", description: "start with deliveries from this period (12h, 30d, 4w)", read: readAge },
    "forward-to": {
      value: "<url>",
      description: "send each new delivery to this URL as well, signed with the secret of its webhook",
      read: readForwardUrl,
    },
    "print-body": { description: "print the bodies of new deliveries" },
  },
  notes: [
    "Forwarding is for development: it uses any address, such as a port of this machine, makes one attempt, and does not " +
      "change the delivery. To send an event, run `starpost webhooks trigger`.",
  ],
  run: async (context, { flags }) => {
    const { listenToWebhooks } = await import("./listen-run.ts");
    return listenToWebhooks(context, flags);
  },
  render: "silent",
});

/** Accepts `localhost:3000/hook` for `http://localhost:3000/hook`, as the tools of other services do. */
function readForwardUrl(given: string, flag: string): string {
  const text = /^[\w.-]+:\d+(?:\/|$)/.test(given) ? `http://${given}` : given;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.username || url?.password)
    throw usageError(`invalid value for ${flag}: must not contain a user name or password`);
  if (url?.protocol === "http:" || url?.protocol === "https:") return text;
  throw invalidValue(given, flag, "a URL that starts with http:// or https://");
}
