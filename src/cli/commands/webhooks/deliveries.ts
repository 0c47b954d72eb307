import { usageError } from "../../../config/user-error.ts";
import { fields, table, type View } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { readWholeNumber } from "../../program/flag-values.ts";
import { aboutOne, readLimited } from "../../program/read-records.ts";
import { formatTime } from "../mail/email-format.ts";
import { describeAttempt, describeState, describeTarget } from "./delivery-format.ts";
import { deliveryFilters, toDeliveryQuery } from "./redeliver.ts";

const defaultLimit = 20;

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
    limit: { value: "<n>", description: `maximum number of results (default: ${defaultLimit})`, read: readWholeNumber },
  },
  run: async (context, { arguments: [id], flags }) => {
    const { limit = defaultLimit } = flags;
    if (id !== undefined) {
      const [flag] = Object.entries(flags).find(([name, value]) => name !== "curl" && value !== undefined) ?? [];
      if (flag !== undefined) throw usageError(`--${flag} cannot be used with a delivery ID`);
      const delivery_id = readWholeNumber(id, "<id>");
      return context.withService(({ webhookDeliveries }) =>
        aboutOne("Delivery", delivery_id, () => webhookDeliveries.get({ delivery_id })),
      );
    }
    const { deliveryPage } = await import("../../../contract/webhooks/webhooks.ts");
    const query = toDeliveryQuery(flags, context.io.clock());
    const list = { limit, page: deliveryPage, operation: "webhookDeliveries.list", noun: "deliveries" } as const;
    const deliveries = await context.withService(({ webhookDeliveries }) =>
      readLimited(context, list, async (count) => (await webhookDeliveries.list({ ...query, count })).deliveries),
    );
    if (deliveries.length === 0) {
      context.messages.info("No deliveries found. To list the webhooks, run `starpost webhooks list`.");
    }
    const nowMs = context.globals.format === "table" ? context.io.clock() : undefined;
    return deliveries.map((delivery) =>
      Object.assign(delivery, { state_text: nowMs === undefined ? undefined : describeState(delivery, nowMs) }),
    );
  },
  render: (found): View => {
    if ("delivery" in found) {
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
    }
    return table(
      found.map((delivery) => ({
        id: delivery.id,
        created: formatTime(delivery.created_at),
        event: delivery.event_name,
        state: delivery.state_text ?? describeState(delivery),
        attempts: delivery.attempts,
        url: describeTarget(delivery),
      })),
      ["id", "created", "event", "state", "attempts", "url"],
    );
  },
});
