import { countOf } from "../../../terminal/plural.ts";
import { command } from "../../program/command.ts";

export default command({
  summary: "Revoke all tokens of an account, or one",
  isLocalChange: true,
  argument: "<app_key>",
  examples: [
    "starpost account revoke-tokens k3J9xQ",
    "starpost account revoke-tokens k3J9xQ --token-stdin < token.txt",
  ],
  flags: { "token-stdin": { description: "revoke only the token on standard input" } },
  notes: ["Anyone with the secret can request new tokens. If the secret has leaked, use `account rotate-secret`."],
  run: async (context, { arguments: [appKey = ""], flags }) => {
    const { withAccounts } = await import("./with-accounts.ts");
    const { readSecretLine } = await import("../../program/prompt.ts");
    const { confirmOperation } = await import("../../program/confirm.ts");
    const token = flags["token-stdin"] ? (await readSecretLine(context.io.stdin, "token")).trim() : undefined;
    return withAccounts(context, appKey, async (accounts) => {
      await accounts.show(appKey);
      const question = `Revoke ${token === undefined ? "all tokens" : "a token"} of account ${appKey}`;
      await confirmOperation(context, { destroys: { question } }, {});
      await context.announceWrite();
      const revoked = await context.change(question, () => accounts.revokeTokens(appKey, token), "rehearsed");
      context.messages.info(revoked === 0 ? "No such token." : `Revoked ${countOf(revoked, "token")}.`);
      return { app_key: appKey, revoked };
    });
  },
  render: "silent",
});
