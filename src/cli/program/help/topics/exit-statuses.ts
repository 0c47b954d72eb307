import type { Topic } from "./topic.ts";

/** Source: the table that scripts rely on. */
export const exitStatuses: Topic = {
  name: "exit-statuses",
  summary: "what the exit status of a command says",
  blocks: [
    {
      rows: [
        ["0", "done; everything accepted"],
        ["1", "failed for another reason"],
        ["2", "used wrongly: unknown flag, missing argument, file not found, header not understood"],
        ["3", "finished, and some rows were rejected"],
        ["4", "not signed in, or credentials refused"],
        ["5", "temporary: the service did not answer in the time allowed; resumable"],
        ["6", "stopped by --max-errors"],
        ["7", "`verify` found rows that are not on the service"],
        ["130", "interrupted; resumable"],
      ],
    },
    "An error is said in two lines on standard error, what and what to do. With --json it is one document there: its kind, a message, and often a hint.",
    { lines: ['{"error":{"kind":"usage","message":"…","hint":"…"}}'] },
    "Standard output has nothing but data, also where something failed.",
    {
      lines: [
        "starpost orders import orders.csv --json > run.json",
        "[ $? -eq 3 ] && jq -r .rejects_file run.json",
      ],
    },
  ],
};
