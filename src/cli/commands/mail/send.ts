import { usageError } from "../../../config/user-error.ts";
import { sendCategories } from "../../../contract/emails/categories.ts";
import { silent } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { exitStatus } from "../../program/exit-status.ts";
import { oneOf, readEmail } from "../../program/flag-values.ts";

export default command({
  summary: "Ask people to review the store after a solved case",
  calls: "write",
  examples: [
    "starpost mail send --category mail_after_service --to ann@mail.example",
    "starpost mail send --category mail_after_service --file solved-cases.csv --yes",
  ],
  notes: [
    "Shows who gets an email, and asks. All email rules apply. The emails are queued; `starpost mail run` or `starpost serve` sends them.",
    "A file has the columns email, name, reference, and date (YYYY-MM-DD), of which only email is required. An address gets one email per reference, or per date if there is no reference, however often you send the file. Rows with invalid addresses are rejected, with exit status 3.",
  ],
  flags: {
    category: {
      value: "<category>",
      description: `category of the emails: ${sendCategories.join(", ")}`,
      ...oneOf(sendCategories),
      required: true,
    },
    to: { value: "<address>", description: "recipient", isRepeatable: true, read: readEmail, requiredUnless: "file" },
    reference: { value: "<text>", description: "what identifies the case: nobody gets two emails about it" },
    file: { value: "<file>", description: "CSV file with recipients", exclusive: ["to", "reference"] },
    rejects: { value: "<file>", description: "write rejected rows of the file to this file", isOutput: true },
  },
  run: async (context, { flags: { category, to = [], reference, file, rejects } }) => {
    if (rejects !== undefined && file === undefined) {
      throw usageError("--rejects cannot be used without --file", "Remove it.");
    }
    const { sendEmails, sendFile } = await import("./send-run.ts");
    if (file !== undefined) return sendFile(context, { category, file, rejects });
    return sendEmails(
      context,
      category,
      to.map((email) => ({ email, reference })),
    );
  },
  render: () => silent(),
  exitStatus: ({ skipped, rejected }) =>
    skipped.length > 0 || rejected.length > 0 ? exitStatus.someRejected : exitStatus.done,
});
