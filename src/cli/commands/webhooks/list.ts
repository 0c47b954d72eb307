import { table } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { formatTime } from "../mail/email-format.ts";

export default command({
  summary: "List webhooks",
  calls: "read",
  examples: ["starpost webhooks list", "starpost webhooks list --jq '.[] | select(.failures_24h > 0) | .url'"],
  run: async (context) => {
    const { webhooks } = await context.withService((service) => service.webhooks.list({}));
    if (webhooks.length === 0) {
      context.messages.info("No webhooks found. To create one, run `starpost webhooks create <url>`.");
    }
    return webhooks;
  },
  render: (webhooks) =>
    table(
      webhooks.map(({ id, event_name, url, last_success_at, failures_24h, next_attempt_at }) => ({
        id,
        event: event_name,
        url,
        last_success: formatOptionalTime(last_success_at),
        failures_24h: failures_24h ?? null,
        next_attempt: formatOptionalTime(next_attempt_at),
      })),
      ["id", "event", "url", "last_success", "failures_24h", "next_attempt"],
    ),
});

/** Empty if there is no time, or if the service does not report it. */
function formatOptionalTime(timestamp: string | null | undefined): string {
  return timestamp ? formatTime(timestamp) : "";
}
