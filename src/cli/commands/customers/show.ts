import { command } from "../../program/command.ts";
import { readEmail } from "../../program/flag-values.ts";
import { viewOfCustomer } from "./customer-format.ts";
import { customerNotFound, findLocalImports } from "./local-imports.ts";

export default command({
  summary: "Show a customer's orders, reviews, questions, emails, and imports",
  calls: "read",
  argument: "<email>",
  examples: ["starpost customers show ann@mail.example", "starpost customers show ann@mail.example --json"],
  notes: [
    "Imports are those of this machine, whether the profile's account is local or remote. The table shows the newest " +
      "records of each kind; `--json` and `--format csv` include all of them.",
  ],
  run: async (context, { arguments: [email = ""] }) => {
    const { customer } = await context.withService((service) =>
      service.customers.get({ email: readEmail(email, "<email>") }),
    );
    const found = await findLocalImports(context, email);
    const imports = found.map(({ import_id, kind, files, state, started_at, rows }) => {
      return { import_id, kind, files, state, started_at, rows: rows.length };
    });
    if (imports.length === 0 && Object.values(customer).every((records) => records === email || records.length === 0)) {
      throw customerNotFound(email);
    }
    return { ...customer, imports };
  },
  render: viewOfCustomer,
});
