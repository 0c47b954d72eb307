import type { ArgumentHelp, Command } from "./command.ts";
import { valuesOfField } from "./field-values.ts";

const run: ArgumentHelp = {
  description: "run ID, as listed by `imports list`; a unique prefix is enough",
  values: "imports",
};
const csvFiles: ArgumentHelp = {
  description: "CSV, .xlsx, or JSON files (also .gz, .zip, and patterns such as 'exports/*.csv'); - for standard input",
  values: "files",
};
const category: ArgumentHelp = {
  description: "email category, as listed by `mail templates list`",
  values: valuesOfField("emailTemplates.get", "category"),
};

/** Help by command and argument, by noun and argument, or by argument. */
const help: Readonly<Record<string, ArgumentHelp>> = {
  "profile add name": {
    description: "profile name: letters, digits, `.`, `_`, and `-`",
    values: "profiles",
  },
  "profile name": { description: "profile name, as listed by `profile list`", values: "profiles" },
  app_key: { description: "app key of the account, as listed by `account list`" },
  address: { description: "email address" },
  "customers email": { description: "email address of the customer" },
  category,
  file: csvFiles,
  "help about": {
    description: "command, topic, or `topics` for a list of topics",
    values: "commands",
  },
  "completion shell": { description: "shell: bash, zsh, or fish", values: ["bash", "zsh", "fish"] },
  "imports id": run,
  "mail id": { description: "email ID, as listed by `mail list`" },
  "mail rules set name": {
    description: "setting, as listed by `mail rules list`",
    values: valuesOfField("emailRules.set", "name"),
  },
  "mail rules set value": {
    description: "new value; `default` restores the default",
    values: ["default", "on", "off"],
  },
  order_id: { description: "order ID" },
  "plan.json": { description: "plan file written by `plan --out`", values: "files" },
  url: { description: "URL that receives the events, http:// or https://" },
  "webhooks delete id": { description: "webhook ID, as listed by `webhooks list`" },
  "webhooks id": { description: "delivery ID, as listed by `webhooks deliveries`" },
};

/** The arguments of a command, as shown in its usage, with their help. */
export function argumentsOf({
  name,
  argument,
  argumentHelp,
}: Pick<Command, "name" | "argument" | "argumentHelp">): readonly (readonly [string, ArgumentHelp | undefined])[] {
  const noun = name.split(" ")[0] ?? "";
  return (argument?.split(" ") ?? []).map((typed) => {
    const bare = typed.replaceAll(/[<>[\]]|\.\.\./g, "");
    const known = [argumentHelp, help].map(
      (found) => found?.[`${name} ${bare}`] ?? found?.[`${noun} ${bare}`] ?? found?.[bare],
    );
    return [typed, known.find((note) => note !== undefined)];
  });
}

/** The help for the argument at a position; a repeatable last argument covers all further positions. */
export function argumentAt(command: Command, position: number): ArgumentHelp | undefined {
  const found = argumentsOf(command);
  const [typed, note] = found[Math.min(position, found.length - 1)] ?? [];
  return position < found.length || typed?.includes("...") ? note : undefined;
}
