import { line } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { readText } from "../../program/flag-values.ts";

export const importsReport = command({
  name: "imports report",
  summary: "Write a page about an import run: counts, rejects by reason, calls over time",
  argument: "<id>",
  flags: {
    out: {
      value: "<file>",
      description: "where the page goes (report.html in the run's folder)",
      read: readText,
    },
    open: { description: "open the page in the browser" },
  },
  examples: [
    "starpost imports report 20260131-120000-a1b2c3 --open",
    "starpost imports report 20260131-120000-a1b2c3 --out report.html --redact",
    "starpost imports report 20260131-120000-a1b2c3 --json",
  ],
  notes: [
    "The page is one file that loads nothing: it can be kept, sent on and printed. --redact hides e-mail addresses in it.",
    "With --json the same facts are printed, and a page is written only where --out or --open asks for it.",
  ],
  run: async (context, { arguments: [id = ""], flags }) => {
    const { reportRun } = await import("./report-run.ts");
    return reportRun(context, id, { out: flags.out, isOpened: flags.open ?? false });
  },
  render: ({ report_file: path }) => line("report_file", path),
});
