import { command } from "../../program/command.ts";
import type { Context } from "../../program/context.ts";
import type { Io } from "../../program/io.ts";

export default command({
  summary: "Show help for a command, an alias, or a topic",
  database: "optional",
  argument: "[about...]",
  examples: [
    "starpost help orders import",
    "starpost help topics",
    "starpost help exit-statuses",
    "starpost help erase",
  ],
  run: async ({ io, globals, findHelp }, { arguments: names }) => {
    const about = names.join(" ");
    const text = (await findAliasHelp(io, about, findHelp)) ?? (await findHelp(about));
    if (globals.format !== "table") return { about, help: text };
    // Printed directly, because a table would wrap the lines again.
    io.stdout.write(text);
    return undefined;
  },
});

/** The help for the command that an alias stands for; undefined if the alias does not exist. */
async function findAliasHelp(io: Io, name: string, findHelp: Context["findHelp"]): Promise<string | undefined> {
  const { readAliases, splitExpansion } = await import("../../program/aliases.ts");
  // An invalid file must not prevent the help of commands.
  const expansion = (await readAliases(io).catch(() => undefined))?.get(name);
  if (expansion === undefined) return undefined;
  const words = splitExpansion(expansion);
  for (let count = words.length; count > 0; count -= 1) {
    const help = await findHelp(words.slice(0, count).join(" ")).catch(() => undefined);
    if (help !== undefined) return `${name} is an alias for: starpost ${expansion}\n\n${help}`;
  }
  return undefined;
}
