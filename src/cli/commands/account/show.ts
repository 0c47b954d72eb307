import { usageError } from "../../../config/user-error.ts";
import { fields } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";

export const accountShow = command({
  name: "account show",
  summary: "Show an account and its settings",
  argument: "[app_key]",
  examples: ["starpost account show", "starpost account show k3J9xQ --json"],
  notes: [
    "Without an app key, shows the profile's account. For remote profiles, shows only the settings of their account.",
  ],
  run: async (context, { arguments: [appKey] }) => {
    const profile = await context.profile();
    if (profile.mode === "local") {
      const { toRecord, withAccounts } = await import("./with-accounts.ts");
      return withAccounts(context, appKey, async (accounts) => {
        const { settings, tokens, records, ...summary } = await accounts.show(appKey ?? accounts.ownAppKey);
        return { settings, account: { ...toRecord(summary), tokens, records } };
      });
    }
    if (appKey !== undefined && appKey !== profile.appKey) {
      throw usageError(
        `profile ${profile.name} is remote; only its own account can be shown`,
        "Remove the app key, or use --profile local for the embedded database.",
      );
    }
    const { withService } = await import("../../program/with-service.ts");
    const { settings } = await withService(context, (service) => service.account.settings({}));
    return { settings, account: undefined };
  },
  render: ({ settings, account }) => {
    if (!account) return fields(settings);
    const { records, ...others } = account;
    return fields({ ...others, bottom_lines_delay: settings.bottom_lines_delay, ...records });
  },
});
