import { failedError } from "../../../config/user-error.ts";
import { countOf } from "../../../terminal/plural.ts";
import { command } from "../../program/command.ts";
import { confirmDestruction } from "../../program/confirm.ts";

export default command({
  summary: "Delete old sealing keys",
  isLocalChange: true,
  examples: ["starpost sealing-key retire", "starpost sealing-key retire --yes --json"],
  notes: [
    "Links in emails that were sent before the rotation stop working, including links to unsubscribe. They are valid for " +
      "up to a year, so delete an old key earlier only if it has leaked.",
  ],
  run: async (context) => {
    const { withSealingKeys } = await import("./with-sealing-keys.ts");
    const retired = await withSealingKeys(context, async (keys) => {
      const outdated = await keys.outdated();
      if (outdated > 0) {
        throw failedError(
          `${countOf(outdated, "secret is", "secrets are")} still encrypted with an old key`,
          "Run `starpost sealing-key rotate` first.",
        );
      }
      await confirmDestruction(
        context,
        "Delete the old sealing keys? Links in emails sent before the rotation stop working, and databases for which " +
          "`starpost sealing-key rotate` has not been run lose their secrets.",
      );
      return context.change("Delete the old sealing keys", () => keys.retire());
    });
    context.messages.info(retired === 0 ? "There are no old keys." : `Deleted ${countOf(retired, "old key")}.`);
    return { retired };
  },
  render: "silent",
});
