import { sentEmailCategories } from "../../../../contract/emails/categories.ts";
import { fields } from "../../../../terminal/view.ts";
import { command } from "../../../program/command.ts";
import { readOneOf } from "../../../program/flag-values.ts";
import { confirmDestruction } from "../../../program/confirm.ts";

export default command({
  summary: "Delete the custom template of a category and restore the built-in one",
  calls: "write",
  argument: "<category>",
  examples: ["starpost mail templates reset map", "starpost mail templates reset reminder --yes"],
  run: async (context, { arguments: [name = ""] }) => {
    const category = readOneOf(name, sentEmailCategories, "<category>");
    return context.withService(async (service) => {
      const { template } = await service.emailTemplates.get({ category });
      if (!template.is_own) return template;
      await confirmDestruction(context, `Delete the custom template of ${category}?`);
      return (await service.emailTemplates.reset({ category })).template;
    });
  },
  render: ({ category, is_own, subject }) => fields({ category, template: is_own ? "custom" : "built-in", subject }),
});
