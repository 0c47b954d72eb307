import { table } from "../../../../terminal/view.ts";
import { command } from "../../../program/command.ts";

export default command({
  summary: "List email templates and show which are customized",
  calls: "read",
  examples: ["starpost mail templates list", "starpost mail templates list --columns category,template"],
  run: async (context) => {
    const { templates } = await context.withService((service) => service.emailTemplates.list({}));
    for (const { category, disabled_at, problem } of templates) {
      if (disabled_at === undefined) continue;
      context.messages.warn(
        `The custom template of ${category} is disabled because it failed repeatedly: ${problem}. To enable it, save it again with \`starpost mail templates edit ${category}\`.`,
      );
    }
    return templates;
  },
  render: (templates) =>
    table(
      templates.map(({ category, is_own, updated_at, disabled_at, subject }) => ({
        category,
        template: disabled_at !== undefined ? "custom (disabled)" : is_own ? "custom" : "built-in",
        changed: updated_at,
        subject,
      })),
      ["category", "template", "changed", "subject"],
    ),
});
