import { fields } from "../../../terminal/view.ts";
import { aboutOne, withService } from "../../program/with-service.ts";
import { command } from "../../program/command.ts";
import { readWholeNumber } from "../../program/flag-values.ts";
import { wordState } from "./webhook-format.ts";

export const webhooksRedeliver = command({
  name: "webhooks redeliver",
  summary: "Send a delivery once more, under the same event id",
  argument: "<id>",
  examples: ["starpost webhooks redeliver 12"],
  run: async (context, { arguments: [id = ""] }) => {
    const delivery_id = readWholeNumber(id, "<id>");
    const { delivery } = await withService(context, ({ webhookDeliveries }) =>
      aboutOne("Delivery", delivery_id, () => webhookDeliveries.redeliver({ delivery_id })),
    );
    context.messages.info(
      "It is sent next, by `starpost serve` or `starpost mail run` where the service runs.",
    );
    return delivery;
  },
  render: (delivery) =>
    fields({
      id: delivery.id,
      event: delivery.event_name,
      event_id: delivery.event_id,
      to: delivery.url,
      state: wordState({ ...delivery, attempts: 0 }),
      attempts: delivery.attempts,
    }),
});
