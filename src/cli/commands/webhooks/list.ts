import { table } from "../../../terminal/view.ts";
import { withService } from "../../program/with-service.ts";
import { command } from "../../program/command.ts";
import { formatTime } from "../mail/email-format.ts";

export const webhooksList = command({
  name: "webhooks list",
  summary: "List the addresses that are told of events",
  examples: ["starpost webhooks list"],
  run: async (context) => {
    const { webhooks } = await withService(context, (service) => service.webhooks.list({}));
    if (webhooks.length === 0) {
      context.messages.info("No address is subscribed: starpost webhooks create <url> subscribes one.");
    }
    return webhooks;
  },
  render: (webhooks) =>
    table(
      webhooks.map(({ id, event_name, url, created_at }) => ({
        id,
        event: event_name,
        url,
        since: formatTime(created_at),
      })),
      ["id", "event", "url", "since"],
    ),
});
