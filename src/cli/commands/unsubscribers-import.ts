import { silent } from "../../output/view.ts";
import { command } from "../command.ts";
import { importFlags, readImportOptions, readOneOf } from "../import-flags.ts";
import { flattenSummary, statusOfImport } from "../import-view.ts";

export const unsubscribersImport = command({
  name: "unsubscribers import",
  summary: "Unsubscribe the addresses of CSV files (- is standard input)",
  argument: "<file...>",
  flags: {
    type: { takes: "<email_type_id>", summary: "the email type of rows that do not say theirs" },
    remove: { summary: "take the addresses back, instead of unsubscribing them" },
    ...importFlags,
  },
  run: async (context, { arguments: files, flags }) => {
    const { emailTypes } = await import("../../contract/unsubscribers.ts");
    const { runImport } = await import("../import-run.ts");
    const { type, remove = false } = flags;
    const emailType = type === undefined ? undefined : readOneOf(type, Object.keys(emailTypes), "--type");
    const options = { ...readImportOptions(flags), emailType, remove };
    return runImport(context, { kind: "unsubscribers", files, options });
  },
  render: (summary) => silent(flattenSummary(summary)),
  exitStatus: statusOfImport,
});
