import { withService } from "../account-call.ts";
import { command } from "../command.ts";
import { viewOfRules } from "../mail-rules-view.ts";

export const mailRules = command({
  name: "mail rules",
  summary: "List the rules that keep mails back, and the settings of mails",
  examples: ["starpost mail rules"],
  run: async (context) => {
    return withService(context, (service) => service.mailRules.list({}));
  },
  render: viewOfRules,
});
