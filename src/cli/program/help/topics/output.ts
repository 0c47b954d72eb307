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
        ["--quiet", "print only errors to standard error"],
        ["--verbose", "trace every HTTP request on standard error, without secrets"],
      ],
    },
    "Lists are read page by page and printed as results arrive. --limit sets the maximum number of results.",
    "To select fields of JSON output, use --jq, which understands the language of jq 1.8 and implies --json. Strings are printed without quotes:",
    {
      lines: [
        "starpost products list --jq '.[].external_id'",
        "starpost products list --format ndjson --jq 'select(.price > 20) | .name'",
        "starpost reviews list --jq '[.[].score] | add / length'",
        "starpost imports list --jq '.[] | select(.state == \"interrupted\") | .import_id'",
        "starpost auth status --json | jq -e .signed_in",
      ],
    },
  ],
};
