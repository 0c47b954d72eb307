import { parseArgs } from "node:util";
import { quoteForShell } from "../../../import/mapping/import-command.ts";

/** A command in a message, up to the end of its sentence or clause. Arguments may be quoted for the shell. */
const command = /(?<=: |`)starpost [a-z<](?:\\'|'[^']*'|[^\\;`'|).\n]|\\|\.(?!\s|$))*/g;

/** Commands that name a profile themselves, or that do not use one. */
const hasNoProfile =
  /^starpost (?:auth|profile|init|help|completion|imports (?:list|show|report|purge))\b|\s(?:--profile|--help)\b/;

/** Commands that work for all accounts of a database, or name one as an argument. */
const hasNoAccount =
  /^starpost (?:serve|mail run|sealing-key|account (?!(?:set|features|set-feature|set-platform)(?![\w-])))/;

/** The flags that select a profile and an account. */
interface TargetFlags {
  readonly profile?: string | undefined;
  readonly account?: string | undefined;
}

/** Adds the flags that were given to the commands that a message suggests: they are for the same account. */
export function keepTarget(text: string, { profile, account }: TargetFlags): string {
  if (!profile && !account) return text;
  const profileFlag = profile ? ` --profile ${quoteForShell(profile)}` : "";
  const accountFlag = account ? ` --account ${quoteForShell(account)}` : "";
  return text.replaceAll(command, (found) => {
    if (hasNoProfile.test(found)) return found;
    const words = found.trimEnd();
    const flags = hasNoAccount.test(found) ? profileFlag : `${profileFlag}${accountFlag}`;
    return `${words}${flags}${found.slice(words.length)}`;
  });
}

/** The values of --profile and --account. Accepts command lines that are otherwise invalid. */
export function findTargetFlags(argv: readonly string[]): TargetFlags {
  const options = { profile: { type: "string", short: "p" }, account: { type: "string" } } as const;
  const { profile, account } = parseArgs({ args: [...argv], options, strict: false }).values;
  return {
    profile: typeof profile === "string" ? profile : undefined,
    account: typeof account === "string" ? account : undefined,
  };
}
