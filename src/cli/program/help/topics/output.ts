import type { Topic } from "./topic.ts";

export const output: Topic = {
  name: "output",
  summary: "output formats, columns, and using jq",
  blocks: [
    "Standard output carries data; standard error carries messages.",
    {
      rows: [
        ["--format table", "for people; fits the width of the terminal"],
        ["--json, --format json", "one JSON document"],
        ["--format ndjson", "one JSON document per line, printed as results arrive"],
        ["--format csv", "CSV with a header"],
        ["--columns a,b", "columns of table or CSV output; implies --details"],
        ["--redact", "hide email addresses and names of people"],
        ["--quiet, --verbose", "print only errors, or more details, to standard error"],
      ],
    },
    "Lists are read page by page and printed as results arrive. --limit sets the maximum number of results.",
    "To select fields from JSON output, use jq:",
    {
      lines: [
        "starpost products list --json | jq -r '.[].external_id'",
        "starpost products list --format ndjson | jq -r 'select(.price > 20) | .name'",
        "starpost reviews list --json | jq '[.[].score] | add / length'",
        "starpost imports list --json | jq -r '.[] | select(.state == \"interrupted\") | .import_id'",
        "starpost auth status --json | jq -e .signed_in",
      ],
    },
  ],
};
