import type { Topic } from "./topic.ts";

/** Scripts rely on these statuses. */
export const exitStatuses: Topic = {
  name: "exit-statuses",
  summary: "exit statuses and error output",
  blocks: [
    {
      rows: [
        ["0", "success; everything accepted"],
        ["1", "failed for another reason"],
        ["2", "usage error: unknown flag, missing argument, file not found, unrecognized header"],
        ["3", "finished with some rows rejected"],
        ["4", "not signed in, or credentials rejected"],
        ["5", "temporary failure (timeout, service unavailable); resumable"],
        ["6", "stopped by --max-errors"],
        ["7", "`verify` found rows missing from the service"],
        ["130", "interrupted; resumable"],
      ],
    },
    "An error is printed to standard error as a message and a hint. With --json, it is one JSON document:",
    { lines: ['{"error":{"kind":"usage","message":"…","hint":"…"}}'] },
    "Standard output carries only data, even if the command fails.",
    {
      lines: ["starpost orders import orders.csv --json > run.json", "[ $? -eq 3 ] && jq -r .rejects_file run.json"],
    },
  ],
};
