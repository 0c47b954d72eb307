import { parseSwitch } from "../../../config/webhook-settings.ts";
import { fields } from "../../../terminal/view.ts";
import { requireLocalProfile } from "../../program/local-profile.ts";
import { command } from "../../program/command.ts";

export default command({
  summary: "Configure whether the profile's webhooks may call private and local addresses",
  database: "optional",
  isLocalChange: true,
  examples: ["starpost webhooks configure", "starpost webhooks configure --allow-private on"],
  flags: {
    "allow-private": {
      value: "<on|off>",
      description: "allow private and local addresses (default: off)",
      values: ["on", "off"],
      read: parseSwitch,
    },
  },
  notes: [
    "Without flags, shows the current configuration. It applies only to the account of the profile; see `starpost " +
      "account allow-private-webhooks` for other accounts of the database.",
  ],
  run: async (context, { flags }) => {
    const { findWebhookSettings, writeWebhookSettings } = await import("../../../config/webhook-settings.ts");
    const hint = "To configure this machine, use --profile local.";
    await requireLocalProfile(context, "configure webhooks on the machine of its service", hint);
    const { env, paths } = await context.host();
    const allowsPrivate = flags["allow-private"];
    if (allowsPrivate !== undefined) {
      const description = `${allowsPrivate ? "Allow" : "Forbid"} webhooks of this profile to call private addresses`;
      await context.change(description, () => writeWebhookSettings(paths, { allowsPrivate }));
    }
    const found = await findWebhookSettings(env, paths);
    if (allowsPrivate !== undefined && found.configuredBy === "environment") {
      context.messages.warn("Saved, but STARPOST_ALLOW_PRIVATE_WEBHOOKS takes precedence.");
    } else if (allowsPrivate !== undefined) {
      context.messages.info("Saved. To apply the change, send SIGHUP to running servers, and restart workers.");
    }
    return { allow_private: found.allowsPrivate, configured_by: found.configuredBy };
  },
  render: ({ allow_private, configured_by }) => fields({ allow_private: allow_private ? "on" : "off", configured_by }),
});
