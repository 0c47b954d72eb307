import { UserError } from "../../../config/user-error.ts";
import { readSwitch } from "../../../config/webhook-settings.ts";
import { fields } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";

export const webhooksConfigure = command({
  name: "webhooks configure",
  summary: "Say whether this machine tells addresses of its own network of events",
  examples: ["starpost webhooks configure", "starpost webhooks configure --allow-private on"],
  flags: {
    "allow-private": {
      value: "<on|off>",
      description: "whether private and local addresses may be subscribed, and are called (off)",
      values: ["on", "off"],
      read: readSwitch,
    },
  },
  run: async (context, { flags }) => {
    const { findWebhookSettings, writeWebhookSettings } = await import("../../../config/webhook-settings.ts");
    const { mode, name } = await context.profile();
    if (mode === "remote") {
      throw new UserError(
        "usage",
        `the profile ${name} is remote: what its webhooks may call is said on the machine that sends them`,
        "Use --profile local for this machine.",
      );
    }
    const { env, paths } = await context.host();
    const allowsPrivate = flags["allow-private"];
    if (allowsPrivate !== undefined) await writeWebhookSettings(paths, { allowsPrivate });
    const found = await findWebhookSettings(env, paths);
    if (allowsPrivate !== undefined && found.configuredBy === "environment") {
      context.messages.warn(
        "STARPOST_ALLOW_PRIVATE_WEBHOOKS is set, and goes before what was configured now.",
      );
    } else if (allowsPrivate !== undefined) {
      context.messages.info("A server or worker that runs already heeds it from its next start.");
    }
    return { allow_private: found.allowsPrivate, configured_by: found.configuredBy };
  },
  render: ({ allow_private, configured_by }) =>
    fields({ allow_private: allow_private ? "on" : "off", configured_by }),
});
