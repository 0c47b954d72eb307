import { countOf } from "../../../terminal/plural.ts";
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
    "Credentials with a role stay valid. If the secret has leaked, check them with `starpost account credentials`.",
  ],
  run: async (context, { arguments: [appKey = ""] }) => {
    const { withAccounts } = await import("./with-accounts.ts");
    const { confirmOperation } = await import("../../program/confirm.ts");
    return withAccounts(context, appKey, async (accounts) => {
      const { credentials } = await accounts.show(appKey);
      const question = `Replace the secret of account ${appKey} and revoke its tokens`;
      await confirmOperation(context, { destroys: { question } }, {});
      await context.announceWrite();
      const secret = await context.change(question, () => accounts.rotateSecret(appKey), "rehearsed");
      if (credentials > 0) {
        context.messages.warn(
          `Still valid: ${countOf(credentials, "credential")} with a role. To list them, run \`starpost account credentials\`.`,
        );
      }
      return { app_key: appKey, secret };
    });
  },
});
