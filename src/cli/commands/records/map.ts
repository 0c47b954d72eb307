import { line, silent } from "../../../terminal/view.ts";
import { type Command, command } from "../../program/command.ts";
import { readText } from "../../program/flag-values.ts";
import { importFlags, productUrlFlag, readImportOptions } from "./import-flags.ts";

const { map, set, layout, delimiter, encoding } = importFlags;

const mapFlags = {
  out: { value: "<file>", description: "write the mapping to this file (standard output)", read: readText },
  map,
  set,
  layout,
  delimiter,
  encoding,
} as const;

/** Proposes how files of a kind are to be read; what is said by flags is not asked. */
export function mapOf(kind: string): Command {
  const hasUrl = kind === "products" || kind === "orders" || kind === "reviews";
  return command({
    name: `${kind} map`,
    summary: "Propose a mapping of a CSV file's columns, to be kept and given to imports with --mapping",
    argument: "<file>",
    examples: [`starpost ${kind} map ${kind}.csv`, `starpost ${kind} map ${kind}.csv --out mapping.json`],
    flags: { ...mapFlags, ...(hasUrl ? productUrlFlag : {}) },
    run: async (context, { arguments: [file = ""], flags }) => {
      const { mapFile } = await import("./map-run.ts");
      const productUrl = (flags as { readonly "product-url"?: string })["product-url"];
      const told = { ...readImportOptions(flags), productUrl };
      return mapFile(context, { kind, file, out: flags.out, told });
    },
    render: (mapped) =>
      "mapping_file" in mapped ? silent({ ...mapped }) : line("mapping", JSON.stringify(mapped, null, 2)),
  });
}
