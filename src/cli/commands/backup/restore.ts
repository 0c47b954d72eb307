import { countOf } from "../../../terminal/plural.ts";
import { command } from "../../program/command.ts";
import { confirmDestruction } from "../../program/confirm.ts";
import { identityFlag } from "./encryption-flags.ts";

export default command({
  summary: "Replace the database with a backup",
  database: "created",
  argument: "<file>",
  argumentHelp: { file: { description: "backup, as listed by `backup list`", values: "files" } },
  examples: [
    "starpost backup restore shop.tar.gz",
    "starpost backup restore shop.tar.gz --sealing-key shop.tar.gz.key --yes",
    "starpost backup restore shop.tar.gz.age --identity key.txt",
  ],
  flags: {
    identity: identityFlag,
    "sealing-key": {
      value: "<file>",
      description: "add the sealing key in this file to those of this machine",
      values: "files",
    },
    trusted: {
      description: "also restore views, triggers, and functions that starpost does not create: they can run code",
    },
    "keep-replaced": { description: "keep the replaced SQLite file after the restore, and print its path" },
  },
  notes: [
    "Stop all servers, workers, and imports first: a database in use is not replaced. The replaced database stays until the " +
      "new one is complete and checked, so a failed restore changes nothing. A backup that could run code is refused unless " +
      "it is --trusted. Backups of newer versions are refused, and " +
      "so are those whose schema is older than 23. The next command migrates those of other older versions.",
  ],
  run: async (context, { arguments: [given = ""], flags }) => {
    const { untilStopped, requireDatabase, resolveFile } = await import("./local-profile.ts");
    const profile = await requireDatabase(context);
    const [file, host] = [resolveFile(context, given), await context.host()];
    const resolveFlag = (name?: string) => (name === undefined ? undefined : resolveFile(context, name));
    const [sealingKeyFile, identityFile] = [resolveFlag(flags["sealing-key"]), resolveFlag(flags.identity)];
    const { openRestoration } = await context.io.loadApp();
    const { trusted: isTrusted = false, "keep-replaced": keepsReplaced = false } = flags;
    const { manifest, keptAs, opensSecrets } = await untilStopped(context, async (signal) => {
      const settings = { ...host, profile, file, sealingKeyFile, identityFile, keepsReplaced, isTrusted, signal };
      const opened = await openRestoration(settings);
      if (opened.replaced) {
        const { accounts } = opened.replaced;
        const content = accounts === undefined ? "cannot be read" : countOf(accounts, "account");
        const when = opened.manifest.created_at;
        await confirmDestruction(context, `Replace ${profile.shownAs} (${content}) with the backup of ${when}?`);
      }
      return { manifest: opened.manifest, ...(await opened.restore()) };
    });
    context.messages.info(
      `Restored ${profile.shownAs} as of ${manifest.created_at} (${countOf(manifest.accounts, "account")}).`,
    );
    if (keptAs !== undefined) context.messages.info(`The replaced database is ${keptAs}.`);
    if (!opensSecrets) {
      context.messages.warn(
        "The sealing key of this machine does not open the secrets in the database. Restore the original key: run the command " +
          "again with --sealing-key <file>, or set STARPOST_KEY.",
      );
    }
    return {
      database: profile.shownAs,
      created_at: manifest.created_at,
      schema: manifest.schema,
      accounts: manifest.accounts,
      replaced_file: keptAs ?? null,
      opens_secrets: opensSecrets,
    };
  },
  render: "silent",
});
