import { withService } from "../../program/with-service.ts";
import { command } from "../../program/command.ts";
import { viewOfRules } from "./rules-view.ts";

export const mailRules = command({
  name: "mail rules",
  summary: "List the rules that keep mails back, and the settings of mails",
  examples: ["starpost mail rules"],
  run: async (context) => {
    return withService(context, (service) => service.emailRules.list({}));
  },
  render: viewOfRules,
});
