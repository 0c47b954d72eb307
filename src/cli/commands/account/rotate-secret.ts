import { command } from "../../program/command.ts";

export default command({
  summary: "Replace the secret of an account, and print the new one",
  isLocalChange: true,
  argument: "<app_key>",
  examples: [
    "starpost account rotate-secret k3J9xQ",
    "starpost account rotate-secret k3J9xQ --yes --json > secret.json",
  ],
  notes: [
    "The old secret, all tokens, signatures of trusted vendors, and sign-in URLs become invalid immediately. The new " +
      "secret is shown once; `starpost auth credentials --account <app_key>` shows it again.",
  ],
  run: async (context, { arguments: [appKey = ""] }) => {
    const { withAccounts } = await import("./with-accounts.ts");
    const { confirmOperation } = await import("../../program/confirm.ts");
    return withAccounts(context, appKey, async (accounts) => {
      await accounts.show(appKey);
      const question = `Replace the secret of account ${appKey} and revoke its tokens`;
      await confirmOperation(context, { destroys: { question } }, {});
      await context.announceWrite();
      return {
        app_key: appKey,
        secret: await context.change(question, () => accounts.rotateSecret(appKey), "rehearsed"),
      };
    });
  },
});
