import { usageError } from "../../../config/user-error.ts";
import { deliveryStates } from "../../../contract/emails/categories.ts";
import { fields, table, type View } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { oneOf, readWholeNumber, stateFlag } from "../../program/flag-values.ts";
import { timeFlags, toTimeRange } from "../../program/relative-time.ts";
import { aboutOne, readLimited } from "../../program/read-records.ts";
import { formatTime } from "../mail/email-format.ts";
import { describeAttempt, describeState, describeTarget, eventNames } from "./delivery-format.ts";

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
    state: stateFlag(deliveryStates),
    event: { value: "<event>", description: `only this event: ${eventNames.join(", ")}`, ...oneOf(eventNames) },
    webhook: { value: "<id>", description: "only deliveries of this webhook", read: readWholeNumber },
    ...timeFlags,
    limit: { value: "<n>", description: `maximum number of results (default: ${defaultLimit})`, read: readWholeNumber },
  },
  run: async (context, { arguments: [id], flags }) => {
    const { state, event, webhook, limit = defaultLimit } = flags;
    if (id !== undefined) {
      const [flag] = Object.entries(flags).find(([name, value]) => name !== "curl" && value !== undefined) ?? [];
      if (flag !== undefined) throw usageError(`--${flag} cannot be used with a delivery ID`);
      const delivery_id = readWholeNumber(id, "<id>");
      return context.withService(({ webhookDeliveries }) =>
        aboutOne("Delivery", delivery_id, () => webhookDeliveries.get({ delivery_id })),
      );
    }
    const { deliveryPage } = await import("../../../contract/webhooks/webhooks.ts");
    const query = {
      ...(state && { state: state.join(",") }),
      ...(event !== undefined && { event_name: event }),
      ...(webhook !== undefined && { webhook_id: webhook }),
      ...toTimeRange(flags, context.io.clock()),
    };
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
