import { fields } from "../../../../terminal/view.ts";
import { withService } from "../../../program/with-service.ts";
import { command } from "../../../program/command.ts";
import { readText } from "../../../program/flag-values.ts";

export const mailTemplatesPreview = command({
  name: "mail templates preview",
  summary: "Write a page that shows a mail of a category, with sample data",
  argument: "<category>",
  examples: [
    "starpost mail templates preview map",
    "starpost mail templates preview map --file map.txt --out map.html",
  ],
  flags: {
    out: { value: "<path>", description: "where the page goes (mail-<category>.html)", read: readText },
    file: {
      value: "<path>",
      description: "show this file, which is not saved; - is standard input",
      read: readText,
    },
  },
  run: async (context, { arguments: [name = ""], flags: { out, file } }) => {
    const { readCategory } = await import("./run.ts");
    const { previewTemplate } = await import("./preview-run.ts");
    const category = readCategory(name);
    return withService(context, (service) => previewTemplate(context, service, { category, out, file }));
  },
  render: (preview) => fields({ ...preview }),
});
