import type { Topic } from "./topic.ts";

export const mapping: Topic = {
  name: "mapping",
  summary: "columns with names of their own",
  blocks: [
    "Columns are found by their names, without regard to case, spaces, _ and -. Other names are given with --map, as often as needed; the column's name may hold further =.",
    { lines: ["starpost orders import orders.csv --map order_id='Order number' --map email=Mail"] },
    "`starpost orders map` proposes a mapping, asks on a terminal what it cannot know, and writes a file that can be kept beside the shop's exports and given to every import with --mapping. What flags say goes before what the file says.",
    {
      lines: [
        "starpost orders map orders.csv --out mapping.json",
        "starpost orders import orders.csv --mapping mapping.json",
      ],
    },
    "--set gives a field a value where a row has none. --empty says what an empty cell does: keep leaves what is stored, clear erases it, error rejects the row.",
    "`starpost orders plan` shows what comes of it, before anything is sent.",
  ],
};
