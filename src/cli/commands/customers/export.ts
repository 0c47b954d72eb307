import { resolve } from "node:path";
import { silent, text } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { readEmail } from "../../program/flag-values.ts";
import { customerNotFound, findLocalImports } from "./local-imports.ts";

/** The name of a kind of records: `missed_products` are `missed products`. */
const describeRecords = (name: string) => name.replace("mail", "email").replaceAll("_", " ");

export default command({
  summary: "Export everything stored about a customer as JSON or zip",
  calls: "read",
  argument: "<email>",
  examples: [
    "starpost customers export ann@mail.example > ann.json",
    "starpost customers export ann@mail.example --out ann.zip",
  ],
  flags: {
    out: {
      value: "<file>",
      description:
        "write to this file, which only you can read: a zip archive if its name ends in .zip, otherwise JSON",
      values: "files",
    },
  },
  notes: [
    "Contains orders, reviews with images and history, questions, answers, emails as they were sent, webhook deliveries, and " +
      "the rows of imported files of this machine that contain the address.",
    "A zip archive has a JSON file for each kind of record, a CSV file if the records fit into a table, the pictures, and a " +
      "README.txt.",
  ],
  run: async (context, { arguments: [email = ""], flags: { out } }) => {
    const { export: stored } = await context.withService((service) =>
      service.customers.export({ email: readEmail(email, "<email>") }),
    );
    const imports = await findLocalImports(context, email);
    const exported = { ...stored, imports };
    const isEmpty = Object.values(exported).every((records) => records === email || records.length === 0);
    if (isEmpty) throw customerNotFound(email);
    if (out === undefined) return exported;
    const { confirmReplacing } = await import("../../program/output/existing-files.ts");
    const { writePrivateFile } = await import("../../../config/private-file.ts");
    const file = resolve(context.io.cwd, out);
    await confirmReplacing(context, [{ file: out, flag: "out" }]);
    const content = /\.zip$/i.test(file)
      ? (await import("../../../export/customer-archive.ts")).createArchive(exported, context.io.clock())
      : Buffer.from(`${JSON.stringify(exported, null, 2)}\n`);
    await writePrivateFile(file, content, "Pass --out a file in a writable folder.");
    const counts = Object.entries(exported).flatMap(([name, records]) =>
      typeof records === "string" || records.length === 0 ? [] : [`${describeRecords(name)}: ${records.length}`],
    );
    context.messages.info([`Exported to ${file}:`, ...counts.map((count) => `  ${count}`)]);
    return { file, bytes: content.length };
  },
  render: (data) => {
    if ("bytes" in data) return silent({ file: data.file, bytes: data.bytes });
    const cells = Object.entries(data).map(([name, value]) => [name, name === "email" ? value : JSON.stringify(value)]);
    return text(JSON.stringify(data, null, 2).split("\n"), [Object.fromEntries(cells)], Object.keys(data));
  },
});
