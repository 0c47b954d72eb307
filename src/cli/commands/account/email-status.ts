import { command } from "../../program/command.ts";
import { notes, viewOfAccess } from "./email-view.ts";

export default command({
  summary: "Show whether an account may send email, its quota, and its held emails",
  argument: "<app_key>",
  examples: ["starpost account email-status k3J9xQ", "starpost account email-status k3J9xQ --json"],
  notes,
  run: async (context, { arguments: [appKey = ""] }) => {
    const { showEmailAccess } = await import("./with-accounts.ts");
    return showEmailAccess(context, appKey);
  },
  render: viewOfAccess,
});
