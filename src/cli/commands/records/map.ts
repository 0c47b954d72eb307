import type { RecordKind } from "../../../import/kind.ts";
import { line, silent } from "../../../terminal/view.ts";
import { type CommandFactory, command } from "../../program/command.ts";
import { importFlagsOf, outFlag, readImportOptions } from "./import-flags.ts";

/** The command that creates a mapping file. It prompts only for settings that no flag defines. */
export default function mapCommand(kind: RecordKind): CommandFactory {
  const flags = importFlagsOf(kind);
  const { map, set, layout, delimiter, encoding, sheet, "header-row": headerRow } = flags;
  return command({
    summary: `Create a mapping file for files with ${kind.name}`,
    database: "optional",
    argument: "<file>",
    argumentHelp: {
      file: { description: "CSV, .xlsx, or JSON file (also .gz or .zip), or - for standard input", values: "files" },
    },
    examples: [
      `starpost ${kind.name} map ${kind.name}.csv --out mapping.json`,
      `starpost ${kind.name} map ${kind.name}.csv --no-input > mapping.json`,
    ],
    flags: {
      out: outFlag("write the mapping to this file (default: standard output)"),
      map,
      set,
      layout,
      delimiter,
      encoding,
      "header-row": headerRow,
      sheet,
      ...("product-url" in flags && { "product-url": flags["product-url"], "store-url": flags["store-url"] }),
      ...("date-format" in flags && { "date-format": flags["date-format"] }),
      ...("product-id-from" in flags && { "product-id-from": flags["product-id-from"] }),
    },
    run: async (context, { arguments: [file = ""], flags: values }) => {
      const { mapFile } = await import("./map-run.ts");
      const options = readImportOptions(values);
      return mapFile(context, { kind: kind.name, file, out: values.out, options });
    },
    render: (mapped) =>
      "mapping_file" in mapped ? silent({ ...mapped }) : line("mapping", JSON.stringify(mapped, null, 2)),
  });
}
