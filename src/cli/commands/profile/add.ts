import { fields } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { readText } from "../../program/flag-values.ts";

export const profileAdd = command({
  name: "profile add",
  summary: "Write down an account of a service, or a database, under a name of your own; or change one",
  argument: "<name>",
  flags: {
    "base-url": { value: "<url>", description: "the address of the service (http or https)", read: readText },
    "app-key": { value: "<key>", description: "the app key of the account", read: readText },
    database: {
      value: "<path|url>",
      description: "a SQLite file, or postgres://<role>@<host>/<database> without its password",
      exclusive: ["base-url", "app-key"],
      read: readText,
    },
    "secret-stdin": { description: "read the secret, or the role's password, from standard input" },
    live: { description: "a shop runs on it: writing says its name, and destroying asks with it" },
    "no-live": { description: "no shop runs on it" },
  },
  examples: [
    "starpost profile add shop --base-url https://api.example.com --app-key my-app-key --live",
    "starpost profile add try --database ./try.db",
  ],
  notes: [
    "Nothing is called and nothing is made: `starpost auth login --profile <name>` tries a secret and stores it. What is not given of a profile that is there stays as it is.",
  ],
  run: async (context, { arguments: [name = ""], flags }) => {
    const { addProfile } = await import("./add-run.ts");
    return addProfile(context, {
      name,
      baseUrl: flags["base-url"],
      appKey: flags["app-key"],
      database: flags.database,
      isSecretOnStdin: flags["secret-stdin"] ?? false,
      isLive: flags.live,
    });
  },
  render: (record) => fields({ ...record }),
});
