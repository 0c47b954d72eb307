import { fields, table } from "../../../terminal/view.ts";
import { withService } from "../../program/with-service.ts";
import { command } from "../../program/command.ts";
import { eventNames, readEvent } from "./event.ts";

export const webhooksCreate = command({
  name: "webhooks create",
  summary: "Have an address told of events, and print the secret that signs what it is sent",
  argument: "<url>",
  examples: [
    "starpost webhooks create https://shop.example/hook",
    "starpost webhooks create https://shop.example/hook --event review_create --event review_updated",
  ],
  flags: {
    event: {
      value: "<event>",
      description: "review_create or review_updated (default: review_create)",
      isRepeatable: true,
      values: eventNames,
      read: readEvent,
    },
  },
  run: async (context, { arguments: [url = ""], flags }) => {
    const events = new Set(flags.event ?? ["review_create" as const]);
    const created = await withService(context, async ({ webhooks }) => {
      const made = [];
      for (const event_name of events) made.push((await webhooks.create({ url, event_name })).webhook);
      return made;
    });
    context.messages.info(
      events.size === 1
        ? "Keep the secret: lists do not show it, and the receiver checks signatures with it."
        : "Keep the secrets, one for each event: lists do not show them, and the receiver checks signatures with them.",
    );
    return created;
  },
  render: (created) => {
    const rows = created.map(({ id, event_name, url, secret }) => ({ id, event: event_name, url, secret }));
    const [first] = rows;
    return first && rows.length === 1 ? fields(first) : table(rows, ["id", "event", "url", "secret"]);
  },
});
