import { operationCommand } from "../operations/operation-command.ts";

export default operationCommand("account.set", {
  examples: [
    "starpost account set --name 'Tea & Cups'",
    "starpost account set --bottom-lines-delay 0",
    "starpost account set --published-reviews verified",
    "starpost account set --retain-emails 90d --retain-webhooks 30d",
  ],
  hooks: async () => (await import("./set-hooks.ts")).setHooks,
});
