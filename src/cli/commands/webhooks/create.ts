import { fields, table } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { oneOf } from "../../program/flag-values.ts";
import { eventNames } from "./delivery-format.ts";

export default command({
  summary: "Create a webhook and print its signing secret",
  database: "created",
  calls: "write",
  argument: "<url>",
  examples: [
    "starpost webhooks create https://shop.example/hook",
    "starpost webhooks create https://shop.example/hook --event review_create --event review_updated",
  ],
  flags: {
    event: {
      value: "<event>",
      description: `event to send: ${eventNames.join(", ")} (default: review_create)`,
      isRepeatable: true,
      ...oneOf(eventNames),
    },
  },
  run: async (context, { arguments: [url = ""], flags }) => {
    const events = new Set(flags.event ?? ["review_create" as const]);
    const webhooks = await context.withService((service) =>
      // At once, so that --curl and --dry-run show all of the calls.
      Promise.all([...events].map(async (event_name) => (await service.webhooks.create({ url, event_name })).webhook)),
    );
    context.messages.info(
      events.size === 1
        ? "Save the secret now: it is not shown again. Receivers use it to verify signatures."
        : "Save the secrets now (one per event): they are not shown again. Receivers use them to verify signatures.",
    );
    return webhooks;
  },
  render: (webhooks) => {
    const rows = webhooks.map(({ id, event_name, url, secret }) => ({ id, event: event_name, url, secret }));
    const [first] = rows;
    return first && rows.length === 1 ? fields(first) : table(rows, ["id", "event", "url", "secret"]);
  },
});
