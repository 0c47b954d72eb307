import { failedError } from "../../../config/user-error.ts";
import { command } from "../../program/command.ts";

export default command({
  summary: "Enable a disabled account, and send its held emails and webhooks",
  isLocalChange: true,
  argument: "<app_key>",
  examples: ["starpost account enable k3J9xQ", "starpost account enable k3J9xQ --json"],
  run: async (context, { arguments: [appKey = ""] }) => {
    const { withAccounts } = await import("./with-accounts.ts");
    await context.announceWrite();
    await withAccounts(context, appKey, async (accounts) => {
      await accounts.show(appKey);
      if (await context.change(`Enable account ${appKey}`, () => accounts.enable(appKey))) return;
      throw failedError(
        `account ${appKey} is being deleted`,
        `To finish the deletion, run \`starpost account delete ${appKey}\`.`,
      );
    });
    context.messages.info(`Enabled account ${appKey}.`);
    return { app_key: appKey, state: "active" };
  },
  render: "silent",
});
