import { fields } from "../../../../terminal/view.ts";
import { withService } from "../../../program/with-service.ts";
import { command } from "../../../program/command.ts";
import { confirmDestruction } from "../../../program/confirm.ts";

export const mailTemplatesReset = command({
  name: "mail templates reset",
  summary: "Take the account's own template of a category away, for the one that comes with starpost",
  argument: "<category>",
  examples: ["starpost mail templates reset map"],
  run: async (context, { arguments: [name = ""] }) => {
    const { readCategory } = await import("./run.ts");
    const category = readCategory(name);
    return withService(context, async (service) => {
      const { template } = await service.emailTemplates.get({ category });
      if (!template.is_own) return template;
      await confirmDestruction(context, `The account's own template of ${category} is lost. Go on?`);
      return (await service.emailTemplates.reset({ category })).template;
    });
  },
  render: ({ category, is_own, subject }) =>
    fields({ category, template: is_own ? "own" : "built-in", subject }),
});
