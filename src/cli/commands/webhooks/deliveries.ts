import { usageError } from "../../../config/user-error.ts";
import type { WebhookDelivery } from "../../../contract/webhooks/webhooks.ts";
import { RowStream } from "../../../terminal/row-stream.ts";
import { fields, table, type View } from "../../../terminal/view.ts";
import { operationCards } from "../operations/operation-cards.ts";
import { command } from "../../program/command.ts";
import { readWholeNumber, tableLimitFlag } from "../../program/flag-values.ts";
import { aboutOne, openList } from "../../program/read-records.ts";
import { formatTime } from "../mail/email-format.ts";
import { describeAttempt, describeState, describeTarget } from "./delivery-format.ts";
import { deliveryFilters, toDeliveryQuery } from "./redeliver.ts";

const columns = ["id", "created", "event", "state", "attempts", "url"];
const allColumns = [...new Set([...columns, ...(operationCards["webhookDeliveries.list"]?.columns ?? [])])];

export default command({
  summary: "List webhook deliveries, newest first, or show one by ID",
  calls: "read",
  argument: "[id]",
  examples: [
    "starpost webhooks deliveries",
    "starpost webhooks deliveries --state failed --since 24h",
    "starpost webhooks deliveries 12",
  ],
  flags: {
    ...deliveryFilters,
    limit: tableLimitFlag,
  },
  run: async (context, { arguments: [id], flags }) => {
    const { limit } = flags;
    if (id !== undefined) {
      const [flag] = Object.entries(flags).find(([name, value]) => name !== "curl" && value !== undefined) ?? [];
      if (flag !== undefined) throw usageError(`--${flag} cannot be used with a delivery ID`);
      const delivery_id = readWholeNumber(id, "<id>");
      return context.withService(({ webhookDeliveries }) =>
        aboutOne("Delivery", delivery_id, () => webhookDeliveries.get({ delivery_id })),
      );
    }
    const input = toDeliveryQuery(flags, context.io.clock());
    const ifEmpty = "No deliveries found. To list the webhooks, run `starpost webhooks list`.";
    const shown = { columns, allColumns, ifEmpty };
    const nowMs = context.globals.format === "table" ? context.io.clock() : undefined;
    const list = { operation: "webhookDeliveries.list", input, limit } as const;
    return openList<WebhookDelivery>(context, list, shown, (delivery) => ({
      ...delivery,
      created: formatTime(delivery.created_at),
      event: delivery.event_name,
      state: describeState(delivery, nowMs),
      url: describeTarget(delivery),
    }));
  },
  render: (found): View => {
    if (found instanceof RowStream) return table([], columns);
    const { delivery, attempts } = found;
    return fields({
      id: delivery.id,
      event: delivery.event_name,
      event_id: delivery.event_id,
      url: describeTarget(delivery),
      created: formatTime(delivery.created_at),
      state: describeState(delivery),
      ...Object.fromEntries(attempts.map((attempt, at) => [`attempt ${at + 1}`, describeAttempt(attempt)])),
      body: delivery.body,
    });
  },
});
