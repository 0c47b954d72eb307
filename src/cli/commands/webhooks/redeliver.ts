import { deliveryStates } from "../../../contract/emails/categories.ts";
import type { WebhookDelivery } from "../../../contract/webhooks/webhooks.ts";
import { fields } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { oneOf, readWholeNumber, stateFlag } from "../../program/flag-values.ts";
import { aboutOne } from "../../program/read-records.ts";
import { timeFlags, toTimeRange } from "../../program/relative-time.ts";
import { bulkOperation } from "../operations/bulk-operation.ts";
import { formatTime } from "../mail/email-format.ts";
import { describeState, describeTarget, eventNames } from "./delivery-format.ts";

/** The filters of deliveries. */
export const deliveryFilters = {
  state: stateFlag(deliveryStates),
  event: { value: "<event>", description: `only this event: ${eventNames.join(", ")}`, ...oneOf(eventNames) },
  webhook: { value: "<id>", description: "only deliveries of this webhook", read: readWholeNumber },
  ...timeFlags,
} as const;

interface DeliveryFilters {
  readonly state?: readonly string[] | undefined;
  readonly event?: (typeof eventNames)[number] | undefined;
  readonly webhook?: number | undefined;
}

/** The query of a list of deliveries. */
export function toDeliveryQuery(flags: DeliveryFilters & Parameters<typeof toTimeRange>[0], nowMs: number) {
  const { state, event, webhook } = flags;
  return {
    ...(state && { state: state.join(",") }),
    ...(event !== undefined && { event_name: event }),
    ...(webhook !== undefined && { webhook_id: webhook }),
    ...toTimeRange(flags, nowMs),
  };
}

const single = command({
  summary: "Send webhook deliveries again, with the same event IDs",
  calls: "write",
  argument: "<id>",
  examples: ["starpost webhooks redeliver 12"],
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

export default bulkOperation({
  single,
  operation: "webhookDeliveries.redeliver",
  idField: "delivery_id",
  fieldsOf: () => ({}),
  list: "webhookDeliveries.list",
  filters: deliveryFilters,
  queryOf: toDeliveryQuery,
  noun: ["delivery", "deliveries"],
  verbs: ["Redeliver", "Queued"],
  describe: (record) => {
    const delivery = record as unknown as WebhookDelivery;
    const { id, created_at, event_name } = delivery;
    return [String(id), formatTime(created_at), event_name, describeState(delivery), describeTarget(delivery)];
  },
  examples: ["starpost webhooks redeliver --state failed --since 24h"],
});
