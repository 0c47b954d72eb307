import { fields } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { readWholeNumber } from "../../program/flag-values.ts";
import { aboutOne } from "../../program/read-records.ts";
import { describeState } from "./delivery-format.ts";

export default command({
  summary: "Send a webhook delivery again, with the same event ID",
  calls: "write",
  argument: "<id>",
  examples: ["starpost webhooks redeliver 12", "starpost webhooks redeliver 12 --json"],
  run: async (context, { arguments: [id = ""] }) => {
    const delivery_id = readWholeNumber(id, "<id>");
    const { delivery } = await context.withService(({ webhookDeliveries }) =>
      aboutOne("Delivery", delivery_id, () => webhookDeliveries.redeliver({ delivery_id })),
    );
    context.messages.info(
      "Queued. It is sent by `starpost serve` or `starpost mail run` on the machine of the service.",
    );
    return delivery;
  },
  render: (delivery) =>
    fields({
      id: delivery.id,
      event: delivery.event_name,
      event_id: delivery.event_id,
      url: delivery.url,
      state: describeState({ ...delivery, attempts: 0 }),
      attempts: delivery.attempts,
    }),
});
