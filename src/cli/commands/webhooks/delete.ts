import { silent } from "../../../terminal/view.ts";
import { aboutOne, withService } from "../../program/with-service.ts";
import { command } from "../../program/command.ts";
import { readWholeNumber } from "../../program/flag-values.ts";
import { confirmDestruction } from "../../program/confirm.ts";

export const webhooksDelete = command({
  name: "webhooks delete",
  summary: "Tell an address of no more events",
  argument: "<id>",
  examples: ["starpost webhooks delete 1"],
  run: async (context, { arguments: [id = ""] }) => {
    const webhook_id = readWholeNumber(id, "<id>");
    const found = await withService(context, async ({ webhooks }) =>
      (await webhooks.list({})).webhooks.find((webhook) => webhook.id === webhook_id),
    );
    if (found) {
      const { event_name, url } = found;
      await confirmDestruction(
        context,
        `Tell ${url} of no more ${event_name}? What waits for it is not sent any more, and its secret is gone.`,
      );
    }
    await withService(context, ({ webhooks }) =>
      aboutOne("Webhook", webhook_id, () => webhooks.delete({ webhook_id })),
    );
    context.messages.info(`Subscription ${webhook_id} has ended.`);
    return { id: webhook_id };
  },
  render: (ended) => silent(ended),
});
