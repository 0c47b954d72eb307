import { line } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";

export default command({
  summary: "Write an HTML report on an import run: counts, reject reasons, calls over time",
  database: "optional",
  argument: "<id>",
  flags: {
    out: { value: "<file>", short: "o", description: "output file (default: report.html in the folder of the run)" },
    open: { description: "open the report in the browser" },
  },
  examples: [
    "starpost imports report 20260131-120000-a1b2c3 --open",
    "starpost imports report 20260131-120000-a1b2c3 --out report.html --redact",
    "starpost imports report 20260131-120000-a1b2c3 --json",
  ],
  notes: [
    "The report is a single self-contained HTML file. --redact hides the email addresses and rejected values in it.",
    "With --json, the data is printed instead, and the file is only written with --out or --open.",
  ],
  run: async (context, { arguments: [id = ""], flags }) => {
    const { reportRun } = await import("./report-run.ts");
    return reportRun(context, id, { out: flags.out, isOpened: flags.open ?? false });
  },
  render: ({ report_file: path }) => line("report_file", path),
});
