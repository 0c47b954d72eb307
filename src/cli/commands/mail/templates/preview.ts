import { sentEmailCategories } from "../../../../contract/emails/categories.ts";
import { command } from "../../../program/command.ts";
import { readOneOf } from "../../../program/flag-values.ts";

export default command({
  summary: "Render an email template with sample data to an HTML page",
  argument: "<category>",
  examples: [
    "starpost mail templates preview map",
    "starpost mail templates preview map --file map.txt --out map.html",
  ],
  flags: {
    out: { value: "<path>", description: "output file (default: mail-<category>.html)" },
    file: { value: "<path>", description: "preview this template file without saving it (- for standard input)" },
  },
  run: async (context, { arguments: [name = ""], flags }) => {
    const { previewTemplate } = await import("./preview-run.ts");
    const category = readOneOf(name, sentEmailCategories, "<category>");
    return context.withService((service) => previewTemplate(context, service, category, flags));
  },
});
