import type { Topic } from "./topic.ts";

export const output: Topic = {
  name: "output",
  summary: "formats, columns, and what jq does with them",
  blocks: [
    "Standard output carries data, standard error all messages.",
    {
      rows: [
        ["--format table", "for people; cut to the width of the screen where it is a terminal"],
        ["--json, --format json", "one JSON document"],
        ["--format ndjson", "one JSON document a line, as they come"],
        ["--format csv", "a table for a spreadsheet, with a header"],
        ["--columns a,b", "these columns of a table or of CSV; JSON is whole"],
        ["--redact", "hides e-mail addresses"],
        ["--quiet, --verbose", "nothing but errors on standard error; or more"],
      ],
    },
    "A list is read to its end, page by page, and printed as it comes; --limit stops it.",
    "What is to be picked out of JSON, jq picks:",
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
