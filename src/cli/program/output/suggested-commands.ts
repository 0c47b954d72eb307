import { parseArgs } from "node:util";
import { quoteForShell } from "../../../import/mapping/import-command.ts";

/** A command in a message, up to the end of its sentence or clause. Arguments may be quoted for the shell. */
const command = /(?<=: |`)starpost [a-z<](?:\\'|'[^']*'|[^\\;`'|).\n]|\\|\.(?!\s|$))*/g;

/** Commands that name a profile themselves, or that do not use one. */
const hasNoProfile =
  /^starpost (?:auth|profile|init|help|completion|imports (?:list|show|report|purge))\b|\s(?:--profile|--help)\b/;

/** Adds the profile that was given by flag to the commands that a message suggests: they are for the same account. */
export function keepProfile(text: string, profile: string | undefined): string {
  if (!profile) return text;
  const flag = ` --profile ${quoteForShell(profile)}`;
  return text.replaceAll(command, (found) => {
    if (hasNoProfile.test(found)) return found;
    const words = found.trimEnd();
    return `${words}${flag}${found.slice(words.length)}`;
  });
}

/** The value of --profile. Accepts command lines that are otherwise invalid. */
export function findProfileFlag(argv: readonly string[]): string | undefined {
  const options = { profile: { type: "string", short: "p" } } as const;
  const { profile } = parseArgs({ args: [...argv], options, strict: false }).values;
  return typeof profile === "string" ? profile : undefined;
}
