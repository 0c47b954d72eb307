import { fields } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";

export default command({
  summary: "Allow the webhooks of an account to call private and local addresses",
  isLocalChange: true,
  argument: "<app_key>",
  examples: ["starpost account allow-private-webhooks 7Yv2c", "starpost account allow-private-webhooks 7Yv2c --off"],
  flags: { off: { description: "forbid private and local addresses again" } },
  notes: [
    "Only for operators: changes the embedded database, and applies to running servers and workers immediately. An " +
      "account with this permission can send requests to every address that the machine can reach. It also applies to `starpost images fetch`.",
  ],
  run: async (context, { arguments: [appKey = ""], flags }) => {
    const { withAccounts } = await import("./with-accounts.ts");
    const isAllowed = flags.off !== true;
    await withAccounts(context, appKey, (accounts) =>
      context.change(
        `${isAllowed ? "Allow" : "Forbid"} webhooks of account ${appKey} to call private addresses`,
        () => accounts.setPrivateWebhooks(appKey, isAllowed),
        "rehearsed",
      ),
    );
    return { app_key: appKey, allow_private: isAllowed };
  },
  render: ({ app_key, allow_private }) => fields({ app_key, allow_private: allow_private ? "on" : "off" }),
});
