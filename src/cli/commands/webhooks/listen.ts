import { silent } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { readAge } from "../../program/flag-values.ts";

export const webhooksListen = command({
  name: "webhooks listen",
  summary: "Show webhook deliveries as they happen, until Ctrl-C",
  examples: ["starpost webhooks listen", "starpost webhooks listen --since 12h --format ndjson"],
  flags: {
    since: {
      value: "<age>",
      description: "start with deliveries from this period (12h, 30d, 4w)",
      read: readAge,
    },
  },
  run: async (context, { flags }) => {
    const { listenToWebhooks } = await import("./listen-run.ts");
    return listenToWebhooks(context, { sinceMs: flags.since });
  },
  render: () => silent(),
});
