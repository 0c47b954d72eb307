import { usageError } from "../../../config/user-error.ts";
import { fields } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { viewOfSending } from "./email-view.ts";

export default command({
  summary: "Show an account and its settings",
  argument: "[app_key]",
  examples: ["starpost account show", "starpost account show k3J9xQ --json"],
  notes: [
    "Without an app key, shows the profile's account. For remote profiles, shows only the settings of their account.",
  ],
  run: async (context, { arguments: [appKey] }) => {
    const profile = await context.profile();
    if (profile.mode === "local") {
      const { toData, toRecord, withAccounts } = await import("./with-accounts.ts");
      return withAccounts(context, appKey, async (accounts) => {
        const { settings, tokens, credentials, records, emailAccess, ...summary } = await accounts.show(
          appKey ?? accounts.ownAppKey,
        );
        const { app_key: _, ...sending } = toData(emailAccess);
        return { settings, account: { ...toRecord(summary), ...sending, tokens, credentials, records } };
      });
    }
    if (appKey !== undefined && appKey !== profile.appKey) {
      throw usageError(
        `profile ${profile.name} is remote; only its own account can be shown`,
        "Remove the app key, or use --profile local for the embedded database.",
      );
    }
    const { settings } = await context.withService((service) => service.account.settings({}));
    return { settings, account: undefined };
  },
  render: ({ settings, account }) => {
    if (!account) return fields(settings);
    const { records, email_enabled, daily_quota, used_today, held, test_recipients, ...others } = account;
    return fields({
      ...others,
      ...viewOfSending({ email_enabled, daily_quota, used_today, held, test_recipients }),
      bottom_lines_delay: settings.bottom_lines_delay,
      published_reviews: settings.published_reviews,
      anonymous_reviews_per_day: settings.anonymous_reviews_per_day,
      ...records,
    });
  },
});
