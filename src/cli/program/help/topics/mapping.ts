import type { Topic } from "./topic.ts";

export const mapping: Topic = {
  name: "mapping",
  summary: "importing files with other column names",
  blocks: [
    "Columns are matched by name, ignoring case, spaces, _, and -. To use other columns, repeat --map <field>=<column>. The column name may contain =.",
    { lines: ["starpost orders import orders.csv --map order_id='Order number' --map email=Mail"] },
    "`starpost orders map` proposes a mapping, asks about columns that it cannot detect, and writes a mapping file for --mapping. Flags override the mapping file.",
    {
      lines: [
        "starpost orders map orders.csv --out mapping.json",
        "starpost orders import orders.csv --mapping mapping.json",
      ],
    },
    "--set provides a value for rows that lack one. --empty defines how empty cells are handled: keep preserves the stored value, clear deletes it, and error rejects the row.",
    "To preview the result, run `starpost orders plan`.",
  ],
};
