import { command } from "../../program/command.ts";

export default command({
  summary: "Create an account, and print its app key and secret",
  database: "created",
  isLocalChange: true,
  examples: ["starpost account create --name 'Tea & Cups'", "starpost account create --json > account.json"],
  flags: { name: { value: "<text>", description: "name of the store" } },
  notes: ["The account cannot send email until `starpost account enable-email` allows it."],
  run: async (context, { flags: { name } }) => {
    const { withAccounts } = await import("./with-accounts.ts");
    await context.announceWrite();
    const { appKey, secret } = await withAccounts(context, undefined, (accounts) =>
      context.change("Create an account", () => accounts.create(name), "rehearsed"),
    );
    return { app_key: appKey, secret };
  },
});
