import { command } from "../../program/command.ts";
import { accountFlags, liveFlags } from "./account-flags.ts";

export default command({
  summary: "Create or update a profile for an account or a database",
  database: "optional",
  isLocalChange: true,
  argument: "<name>",
  flags: {
    ...accountFlags,
    database: {
      value: "<path|url>",
      description: "SQLite file, or postgres://<role>@<host>/<database> without the password",
      exclusive: ["base-url", "app-key"],
    },
    "secret-stdin": { description: "read the secret or database password from standard input" },
    ...liveFlags,
  },
  examples: [
    "starpost profile add shop --base-url https://api.example.com --app-key my-app-key --live",
    "starpost profile add try --database ./try.db",
  ],
  notes: [
    "The credentials are not checked. To check and store a secret, run `starpost auth login --profile <name>`. When updating a profile, omitted settings keep their value.",
  ],
  run: async (context, { arguments: [name = ""], flags }) => {
    const { addProfile } = await import("./add-run.ts");
    return addProfile(context, name, flags);
  },
});
