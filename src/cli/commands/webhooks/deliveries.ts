import { UserError } from "../../../config/user-error.ts";
import { deliveryStates } from "../../../contract/emails/categories.ts";
import { fields, table, type View } from "../../../terminal/view.ts";
import { aboutOne, withService } from "../../program/with-service.ts";
import { command } from "../../program/command.ts";
import { readWholeNumber } from "../../program/flag-values.ts";
import { readOneOf } from "../records/import-flags.ts";
import { formatTime } from "../mail/email-format.ts";
import { eventNames, readEvent } from "./event.ts";
import { wordAttempt, wordState } from "./webhook-format.ts";

const usualLimit = 20;

export const webhooksDeliveries = command({
  name: "webhooks deliveries",
  summary: "List what addresses were told and are to be told, the newest first; or show one, by its id",
  argument: "[id]",
  examples: [
    "starpost webhooks deliveries",
    "starpost webhooks deliveries --state failed --limit 100",
    "starpost webhooks deliveries 12",
  ],
  flags: {
    state: {
      value: "<state>",
      description: "those that are queued, leased, delivered or failed",
      values: deliveryStates,
      read: (text: string, flag: string) => readOneOf(text, deliveryStates, flag),
    },
    event: { value: "<event>", description: "those of this event", values: eventNames, read: readEvent },
    webhook: { value: "<id>", description: "those of this subscription", read: readWholeNumber },
    limit: { value: "<n>", description: "how many at most (20)", read: readWholeNumber },
  },
  run: async (context, { arguments: [id], flags }) => {
    const { state, event, webhook, limit = usualLimit } = flags;
    if (id !== undefined) {
      if (Object.values(flags).some((given) => given !== undefined)) {
        throw new UserError(
          "usage",
          "one delivery is shown by its id alone",
          "Leave the other flags out, or the id.",
        );
      }
      const delivery_id = readWholeNumber(id, "<id>");
      return withService(context, ({ webhookDeliveries }) =>
        aboutOne("Delivery", delivery_id, () => webhookDeliveries.get({ delivery_id })),
      );
    }
    const { deliveryPage } = await import("../../../contract/webhooks/deliveries.ts");
    if (limit >= deliveryPage.max) {
      throw new UserError("usage", `--limit: at most ${deliveryPage.max - 1} are listed at once`);
    }
    const query = {
      count: limit + 1,
      ...(state !== undefined && { state }),
      ...(event !== undefined && { event_name: event }),
      ...(webhook !== undefined && { webhook_id: webhook }),
    };
    const { deliveries } = await withService(context, ({ webhookDeliveries }) =>
      webhookDeliveries.list(query),
    );
    if (deliveries.length === 0)
      context.messages.info(
        "There is no such delivery: `starpost webhooks list` shows who is told of events.",
      );
    if (deliveries.length > limit)
      context.messages.info(`There are more than these ${limit}; --limit shows more.`);
    const nowMs = context.globals.format === "table" ? context.io.clock() : undefined;
    const shown = deliveries.slice(0, limit);
    return shown.map((delivery) =>
      Object.assign(delivery, { stands: nowMs === undefined ? undefined : wordState(delivery, nowMs) }),
    );
  },
  render: (found): View => {
    if ("delivery" in found) {
      const { delivery, attempts } = found;
      return fields({
        id: delivery.id,
        event: delivery.event_name,
        event_id: delivery.event_id,
        to: delivery.url ?? `subscription ${delivery.webhook_id}, which has ended`,
        created: formatTime(delivery.created_at),
        state: wordState(delivery),
        ...Object.fromEntries(attempts.map((attempt, at) => [`attempt ${at + 1}`, wordAttempt(attempt)])),
        body: delivery.body,
      });
    }
    return table(
      found.map((delivery) => ({
        id: delivery.id,
        created: formatTime(delivery.created_at),
        event: delivery.event_name,
        state: delivery.stands ?? wordState(delivery),
        attempts: delivery.attempts,
        to: delivery.url ?? `subscription ${delivery.webhook_id}, ended`,
      })),
      ["id", "created", "event", "state", "attempts", "to"],
    );
  },
});
