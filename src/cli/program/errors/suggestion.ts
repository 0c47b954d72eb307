import { Command as Parser, CommanderError } from "commander";
import type { Misnamed } from "../../../config/user-error.ts";

/**
 * Which known name was meant, in words; nothing where none is near. The parser guesses at commands and flags in the same
 * way, by the letters that were left out, added, changed or turned round.
 */
export function guessName({ given, known }: Misnamed): string | undefined {
  const parser = new Parser("")
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .helpCommand(false);
  // A name of the parser has no spaces; what is typed with one is a single name to it.
  const encode = (name: string) => name.replaceAll(" ", "\u00a0");
  for (const name of new Set(known)) if (name !== "") parser.command(encode(name));
  try {
    parser.parse(["--", encode(given)], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return /\((Did you mean [^]*\?)\)$/
      .exec(error.message)?.[1]
      ?.replaceAll("\u00a0", " ")
      .replaceAll("\n", " ");
  }
  return undefined;
}
