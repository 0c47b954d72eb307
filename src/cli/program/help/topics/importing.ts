import type { Topic } from "./topic.ts";

export const importing: Topic = {
  name: "importing",
  summary: "planning, running, resuming, and undoing imports",
  blocks: [
    {
      rows: [
        ["starpost orders plan", "show what an import would do: rows, calls, duration, rejects, emails"],
        ["--dry-run", "check only the files; faster than a plan"],
        ["starpost orders import", "import the files and print a summary"],
        ["starpost imports list", "list all runs; `imports show` shows one"],
        [
          "starpost imports resume",
          "continue an unfinished run without losing rows or sending them twice unnecessarily",
        ],
        ["starpost imports verify", "read the records back and report missing ones"],
        ["starpost imports undo", "revert a run as far as the API allows"],
        ["starpost imports purge", "delete the files of old runs"],
      ],
    },
    "Rejected rows are written unchanged to a file, followed by the columns _line, _column, _code, and _reason. Correct the rows and import that file; those four columns are ignored. --rejects sets the path, and --max-errors stops a run early.",
    "Ctrl-C stops after the requests in flight. A second Ctrl-C stops immediately.",
    "Imported orders do not trigger review requests unless --send-mail is set.",
    {
      lines: [
        "starpost orders plan orders.csv --out plan.json",
        "starpost imports apply plan.json",
        "starpost orders import orders.csv --rejects rejected.csv --max-errors 5%",
      ],
    },
  ],
};
