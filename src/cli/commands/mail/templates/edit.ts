import { sentEmailCategories } from "../../../../contract/emails/categories.ts";
import { fields } from "../../../../terminal/view.ts";
import { command } from "../../../program/command.ts";
import { readOneOf } from "../../../program/flag-values.ts";
import { isForScripts } from "../../../program/global-flags.ts";

export default command({
  summary: "Edit the email template of a category in an editor or from a file",
  calls: "write",
  argument: "<category>",
  examples: [
    "starpost mail templates edit map",
    "starpost mail templates edit map --print > map.txt",
    "starpost mail templates edit map --file map.txt",
  ],
  flags: {
    file: {
      value: "<path>",
      description: "read the template from this file instead of opening an editor (- for standard input)",
      exclusive: ["print", "built-in"],
    },
    print: { description: "print the template in the file format and change nothing" },
    "built-in": { description: "start from the built-in template" },
  },
  notes: ["The editor is the command in VISUAL or EDITOR."],
  run: async (context, { arguments: [name = ""], flags }) => {
    const { editTemplate } = await import("./edit-run.ts");
    const { formatTemplateFile } = await import("./edit-run.ts");
    const category = readOneOf(name, sentEmailCategories, "<category>");
    const { file, print: isPrint = false, "built-in": isBuiltIn = false } = flags;
    return context.withService(async (service) => {
      if (!isPrint) return editTemplate(context, service, { category, file, isBuiltIn });
      const { template } = await service.emailTemplates.get({ category, built_in: isBuiltIn });
      if (isForScripts(context.globals.format)) return template;
      context.io.stdout.write(formatTemplateFile(template));
      return undefined;
    });
  },
  render: (template) => {
    const { category, is_own, subject, updated_at } = template;
    return fields({ category, template: is_own ? "custom" : "built-in", subject, changed: updated_at });
  },
});
