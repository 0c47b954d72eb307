import { fields } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";

export const accountAllowPrivateWebhooks = command({
  name: "account allow-private-webhooks",
  summary: "Allow the webhooks of an account to call private and local addresses",
  argument: "<app_key>",
  examples: ["starpost account allow-private-webhooks 7Yv2c", "starpost account allow-private-webhooks 7Yv2c --off"],
  flags: { off: { description: "forbid private and local addresses again" } },
  notes: [
    "Only for operators: changes the embedded database, and applies to running servers and workers immediately. An " +
      "account with this permission can send requests to every address that the machine can reach.",
  ],
  run: async (context, { arguments: [appKey = ""], flags }) => {
    const { readLocalProfile } = await import("./with-accounts.ts");
    const profile = await readLocalProfile(context, appKey);
    const { setPrivateWebhooks } = await context.io.loadApp();
    const isAllowed = flags.off !== true;
    await setPrivateWebhooks(await context.host(), profile, { appKey, isAllowed });
    return { app_key: appKey, allow_private: isAllowed };
  },
  render: ({ app_key, allow_private }) => fields({ app_key, allow_private: allow_private ? "on" : "off" }),
});
