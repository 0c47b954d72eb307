import { argumentsOf } from "../argument-help.ts";
import type { Command } from "../command.ts";
import { type Flag, formatFlag, isRequired } from "../flag.ts";
import { globalFlags, helpFlag, versionFlag } from "../global-flags.ts";
import type { Entry } from "./topics.ts";

/** The content of a command's help, shared by --help, the man page, and the docs. Required flags come first. */
export function describePage(command: Command) {
  const { name, summary, argument, flags = {}, examples = [], notes = [] } = command;
  const all = Object.entries(flags);
  const required = all.filter(([, flag]) => isRequired(flag));
  const optional = all.filter(([, flag]) => !isRequired(flag));
  const usage = [
    "starpost",
    name,
    ...(argument === undefined ? [] : [argument]),
    ...required.map(([flag, { value }]) => (value === undefined ? `--${flag}` : `--${flag} ${value}`)),
    "[flags]",
  ];
  return {
    name,
    summary,
    usage: usage.join(" "),
    arguments: argumentsOf(command).map(([term, help]): Entry => [term, help?.description ?? ""]),
    flags: [...required, ...optional].map(describeFlag),
    examples,
    notes,
  };
}

function describeFlag([name, flag]: readonly [string, Flag]): Entry {
  return [formatFlag(name, flag), describeFlagEffect(flag)];
}

/** The description, followed by what the declaration adds: `(required; repeatable)`, `(default: 20)`. */
export function describeFlagEffect(flag: Flag): string {
  const { description, requiredUnless, exclusive = [] } = flag;
  const details = [
    requiredUnless === undefined ? flag.required && "required" : `required unless --${requiredUnless} is set`,
    flag.default !== undefined && `default: ${flag.default}`,
    flag.isRepeatable === true && "repeatable",
    exclusive.length > 0 && `not with ${exclusive.map((other) => `--${other}`).join(", ")}`,
  ].filter((detail) => typeof detail === "string");
  return details.length === 0 ? description : `${description} (${details.join("; ")})`;
}

/** The flags that every command accepts. */
export const sharedFlags: readonly Entry[] = Object.entries({
  ...globalFlags,
  help: helpFlag,
  version: versionFlag,
}).map(describeFlag);
