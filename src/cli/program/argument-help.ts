import { methods } from "../commands/api/target.ts";
import type { ArgumentHelp, Command } from "./command.ts";
import { valuesOfField } from "./field-values.ts";

const run: ArgumentHelp = {
  description: "the run's id, as `imports list` shows it; its beginning will do",
  values: "imports",
};
const csvFiles: ArgumentHelp = {
  description: "CSV files, also .gz, .zip and patterns such as 'exports/*.csv'; - is standard input",
  values: "files",
};
const category: ArgumentHelp = {
  description: "the category of mails, as `mail template list` shows it",
  values: valuesOfField("emailTemplates.get", "category"),
};

/** Arguments of hand-written commands in words; those of one command or noun come first. */
const notes: Readonly<Record<string, ArgumentHelp>> = {
  "api method": { description: methods.join(", "), values: methods },
  "api path": { description: "the call's path, with {app_key} or {store_id} for the profile's account" },
  "profile add name": {
    description: "the profile's name: letters, digits, `.`, `_` and `-`",
    values: "profiles",
  },
  "profile name": { description: "the profile's name, as `profile list` shows it", values: "profiles" },
  address: { description: "the e-mail address" },
  category,
  file: csvFiles,
  "help words": {
    description: "a noun and a verb, a topic, or `topics` for a list of them",
    values: "commands",
  },
  "completion shell": { description: "the shell: bash, zsh or fish", values: ["bash", "zsh", "fish"] },
  "imports id": run,
  "mail id": { description: "the mail's id, as `mail queue` and `mail outbox` show it" },
  "mail set name": {
    description: "the setting, as `mail rules` shows it",
    values: valuesOfField("emailRules.set", "name"),
  },
  "mail set value": {
    description: "its new value; `default` takes it back",
    values: ["default", "on", "off"],
  },
  order_id: { description: "the order's id, as the shop has it" },
  "plan.json": { description: "a file that `plan … --out` wrote", values: "files" },
  url: { description: "the address that is told, http:// or https://" },
  "webhooks delete id": { description: "the subscription's id, as `webhooks list` shows it" },
  "webhooks id": { description: "the delivery's id, as `webhooks deliveries` shows it" },
};

/** The arguments of a command: each as it is typed, with its words where there are some. */
export function argumentsOf({
  name,
  argument,
  argumentHelp,
}: Pick<Command, "name" | "argument" | "argumentHelp">): readonly (readonly [
  string,
  ArgumentHelp | undefined,
])[] {
  const noun = name.split(" ")[0] ?? "";
  return (argument?.split(" ") ?? []).map((typed) => {
    const bare = typed.replaceAll(/[<>[\]]|\.\.\./g, "");
    const known = [argumentHelp, notes].map(
      (found) => found?.[`${name} ${bare}`] ?? found?.[`${noun} ${bare}`] ?? found?.[bare],
    );
    return [typed, known.find((note) => note !== undefined)];
  });
}

/** The argument in a position; the last of a command that takes several stands for all that follow. */
export function argumentAt(command: Command, position: number): ArgumentHelp | undefined {
  const found = argumentsOf(command);
  const [typed, note] = found[Math.min(position, found.length - 1)] ?? [];
  return position < found.length || typed?.includes("...") ? note : undefined;
}
