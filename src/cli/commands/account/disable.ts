import { command } from "../../program/command.ts";

export default command({
  summary: "Refuse all calls of an account, and hold its emails and webhooks",
  isLocalChange: true,
  argument: "<app_key>",
  examples: ["starpost account disable k3J9xQ", "starpost account disable k3J9xQ --yes --json"],
  notes: [
    "Nothing is deleted. Calls with its tokens, public calls, and its pages are refused with FeatureDisabled. People can " +
      "still unsubscribe. Emails and webhooks that are queued are sent after `starpost account enable`.",
  ],
  run: async (context, { arguments: [appKey = ""] }) => {
    const { withAccounts } = await import("./with-accounts.ts");
    const { confirmOperation } = await import("../../program/confirm.ts");
    return withAccounts(context, appKey, async (accounts) => {
      const { state } = await accounts.show(appKey);
      await confirmOperation(context, { overwrites: { question: `Disable account ${appKey}` } }, {});
      await context.announceWrite();
      await context.change(`Disable account ${appKey}`, () => accounts.disable(appKey));
      context.messages.info(
        state === "active" ? `Disabled account ${appKey}.` : `Account ${appKey} is already disabled.`,
      );
      return { app_key: appKey, state: state === "active" ? "disabled" : state };
    });
  },
  render: "silent",
});
