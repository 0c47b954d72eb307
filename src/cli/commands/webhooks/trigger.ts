import { command } from "../../program/command.ts";
import { oneOf } from "../../program/flag-values.ts";
import { eventNames } from "./delivery-format.ts";

export default command({
  summary: "Send a sample event to the webhooks that receive such events",
  calls: "write",
  argument: "<event>",
  argumentHelp: { event: { description: `event: ${eventNames.join(", ")}`, values: eventNames } },
  examples: ["starpost webhooks trigger review_create", "starpost webhooks trigger question_asked --json"],
  notes: ['The body of a sample event contains `"test": true`. Its data is made up, and nothing is stored.'],
  run: async (context, { arguments: [event = ""] }) => {
    const event_name = oneOf(eventNames).read(event, "<event>");
    const { deliveries } = await context.withService(({ webhooks }) => webhooks.trigger({ event_name }));
    context.messages.info(
      deliveries.length === 0
        ? `No webhook receives ${event}. To create one, run \`starpost webhooks create <url> --event ${event}\`.`
        : "Queued. To see the attempts, run `starpost webhooks listen --since 1h`.",
    );
    return deliveries;
  },
  render: ["id", "webhook_id", "url", "event_id"],
});
