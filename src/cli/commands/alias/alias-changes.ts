import { failedError, usageError } from "../../../config/user-error.ts";
import { writeSettings } from "../../../config/private-file.ts";
import { findAliasFile, readAliases, splitExpansion } from "../../program/aliases.ts";
import type { Context } from "../../program/context.ts";
import { nouns } from "../../program/help/groups.ts";

/**
 * Sets an alias.
 * @throws UserError `usage` if the name is taken or the expansion is not a command
 */
export async function setAlias(context: Context, name: string, expansion: string) {
  const { io } = context;
  if (!/^[a-z][\w-]*$/i.test(name)) {
    throw usageError(`invalid alias ${JSON.stringify(name)}: must be a word of letters, digits, - and _`);
  }
  if (Object.hasOwn(nouns, name) || ["ls", "rm"].includes(name)) {
    throw usageError(`invalid alias ${JSON.stringify(name)}: a command has this name`, "Choose another name.");
  }
  if (expansion.startsWith("!")) {
    throw usageError("an alias cannot run a shell command", "Use an alias of your shell, or a script.");
  }
  const words = splitExpansion(expansion);
  const [noun = ""] = words;
  if (!Object.hasOwn(nouns, noun)) {
    throw usageError(
      `invalid expansion ${JSON.stringify(expansion)}: must start with a command`,
      "Without the program's name: starpost alias set co 'customers show'",
      undefined,
      { given: noun, known: Object.keys(nouns) },
    );
  }
  const aliases = await readAliases(io);
  await context.change(`Let \`starpost ${name}\` stand for \`starpost ${expansion}\``, () =>
    write(io, new Map([...aliases, [name, expansion]])),
  );
  return { alias: name, expansion, replaced: aliases.get(name) ?? null };
}

/** @throws UserError `failed` if there is no such alias */
export async function deleteAlias(context: Context, name: string) {
  const { io } = context;
  const aliases = new Map(await readAliases(io));
  const expansion = aliases.get(name);
  if (expansion === undefined) {
    throw failedError(`alias ${JSON.stringify(name)} not found`, "To list the aliases, run `starpost alias list`.");
  }
  aliases.delete(name);
  await context.change(`Delete alias ${name}`, () => write(io, aliases));
  return { alias: name, expansion };
}

async function write(io: Context["io"], aliases: ReadonlyMap<string, string>): Promise<void> {
  const sorted = [...aliases].toSorted(([a], [b]) => (a < b ? -1 : 1));
  await writeSettings(await findAliasFile(io), { aliases: Object.fromEntries(sorted) });
}
