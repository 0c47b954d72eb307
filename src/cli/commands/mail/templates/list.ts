import { table } from "../../../../terminal/view.ts";
import { withService } from "../../../program/with-service.ts";
import { command } from "../../../program/command.ts";

export const mailTemplatesList = command({
  name: "mail templates list",
  summary: "List email templates and show which are customized",
  examples: ["starpost mail templates list", "starpost mail templates list --columns category,template"],
  run: (context) => withService(context, async (service) => (await service.emailTemplates.list({})).templates),
  render: (templates) =>
    table(
      templates.map(({ category, is_own, updated_at, subject }) => ({
        category,
        template: is_own ? "custom" : "built-in",
        changed: updated_at,
        subject,
      })),
      ["category", "template", "changed", "subject"],
    ),
});
