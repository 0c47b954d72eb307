import { fields, silent } from "../../../../terminal/view.ts";
import { withService } from "../../../program/with-service.ts";
import { command } from "../../../program/command.ts";
import { readText } from "../../../program/flag-values.ts";
import { isForScripts } from "../../../program/global-flags.ts";

export const mailTemplatesEdit = command({
  name: "mail templates edit",
  summary: "Change the template of a category of mails, in an editor or by a file",
  argument: "<category>",
  examples: [
    "starpost mail templates edit map",
    "starpost mail templates edit map --print > map.txt",
    "starpost mail templates edit map --file map.txt",
  ],
  flags: {
    file: {
      value: "<path>",
      description: "take this file in place of an editor; - is standard input",
      exclusive: ["print", "built-in"],
      read: readText,
    },
    print: { description: "print the template as such a file, and change nothing" },
    "built-in": { description: "begin with the template that comes with starpost" },
  },
  run: async (context, { arguments: [name = ""], flags }) => {
    const { editTemplate, readCategory } = await import("./run.ts");
    const { writeTemplateFile } = await import("./file.ts");
    const category = readCategory(name);
    const { file, print: isPrint = false, "built-in": isBuiltIn = false } = flags;
    return withService(context, async (service) => {
      if (!isPrint) return editTemplate(context, service, { category, file, isBuiltIn });
      const { template } = await service.emailTemplates.get({ category, built_in: isBuiltIn });
      if (isForScripts(context.globals.format)) return template;
      context.io.stdout.write(writeTemplateFile(template));
      return undefined;
    });
  },
  render: (template) => {
    if (!template) return silent();
    const { category, is_own, subject, updated_at } = template;
    return fields({ category, template: is_own ? "own" : "built-in", subject, changed: updated_at });
  },
});
