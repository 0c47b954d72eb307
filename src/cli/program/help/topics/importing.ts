import type { Topic } from "./topic.ts";

export const importing: Topic = {
  name: "importing",
  summary: "how an import goes: before it, afterwards, and where it is interrupted",
  blocks: [
    {
      rows: [
        ["starpost orders plan", "says what an import would do: rows, calls, time, rejects, mails"],
        ["--dry-run", "is quicker than a plan: it checks the files alone"],
        ["starpost orders import", "sends them, and keeps the books"],
        ["starpost imports list", "shows every run; `imports show` the books of one"],
        [
          "starpost imports resume",
          "goes on with a run that did not finish: no row is lost, none sent twice without need",
        ],
        ["starpost imports verify", "reads back what was sent, and names what is not there"],
        ["starpost imports undo", "takes a run back, as far as the API can"],
        ["starpost imports purge", "removes the files of old runs"],
      ],
    },
    "Rejected rows are written as they stood in the file, with _line, _column, _code and _reason behind them. Correct them and import that file: those four are passed over. --rejects names it; --max-errors stops early.",
    "Ctrl-C finishes what is under way, a second one stops at once.",
    "Orders that are imported bring no review requests, unless the import is given --send-mail.",
    {
      lines: [
        "starpost orders plan orders.csv --out plan.json",
        "starpost imports apply plan.json",
        "starpost orders import orders.csv --rejects rejected.csv --max-errors 5%",
      ],
    },
  ],
};
