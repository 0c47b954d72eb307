import { table } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { withService } from "../../program/with-service.ts";
import { formatTime } from "../mail/email-format.ts";

export const webhooksList = command({
  name: "webhooks list",
  summary: "List webhooks",
  examples: ["starpost webhooks list", "starpost webhooks list --json | jq -r '.[].url'"],
  run: async (context) => {
    const { webhooks } = await withService(context, (service) => service.webhooks.list({}));
    if (webhooks.length === 0) {
      context.messages.info("No webhooks found. To create one, run `starpost webhooks create <url>`.");
    }
    return webhooks;
  },
  render: (webhooks) =>
    table(
      webhooks.map(({ id, event_name, url, created_at }) => ({
        id,
        event: event_name,
        url,
        created: formatTime(created_at),
      })),
      ["id", "event", "url", "created"],
    ),
});
