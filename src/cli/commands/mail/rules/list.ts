import { command } from "../../../program/command.ts";
import { viewOfRules } from "./view.ts";

export default command({
  summary: "List the rules that suppress emails, and the email settings",
  calls: "read",
  examples: ["starpost mail rules list", "starpost mail rules list --json | jq '.settings[] | select(.changed)'"],
  run: (context) => context.withService((service) => service.emailRules.list({})),
  render: viewOfRules,
});
