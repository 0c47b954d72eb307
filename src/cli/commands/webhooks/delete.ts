import { command } from "../../program/command.ts";
import { confirmDestruction } from "../../program/confirm.ts";
import { readWholeNumber } from "../../program/flag-values.ts";
import { aboutOne } from "../../program/read-records.ts";

export default command({
  summary: "Delete a webhook",
  calls: "write",
  argument: "<id>",
  examples: ["starpost webhooks delete 1", "starpost webhooks delete 1 --yes"],
  run: async (context, { arguments: [id = ""] }) => {
    const webhook_id = readWholeNumber(id, "<id>");
    const webhook = await context.withService(async ({ webhooks }) =>
      (await webhooks.list({})).webhooks.find((listed) => listed.id === webhook_id),
    );
    if (webhook) {
      await confirmDestruction(
        context,
        `Delete the ${webhook.event_name} webhook for ${webhook.url}? Queued deliveries are not sent, and its secret is deleted.`,
      );
    }
    await context.withService(({ webhooks }) => aboutOne("Webhook", webhook_id, () => webhooks.delete({ webhook_id })));
    context.messages.info(`Deleted webhook ${webhook_id}.`);
    return { id: webhook_id };
  },
  render: "silent",
});
