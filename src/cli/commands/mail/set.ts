import { withService } from "../../program/with-service.ts";
import { command } from "../../program/command.ts";
import { viewOfSetting } from "./rules-view.ts";

export const mailSet = command({
  name: "mail set",
  summary: "Change a setting of mails (starpost mail rules lists them); `default` takes it back",
  argument: "<name> <value>",
  examples: ["starpost mail set due_after_days 7", "starpost mail set due_after_days default"],
  run: async (context, { arguments: [name = "", value = ""] }) => {
    const { readSettingChange } = await import("./setting.ts");
    const change = readSettingChange(name, value);
    return withService(context, (service) => service.emailRules.set(change));
  },
  render: viewOfSetting,
});
