import { formatBytes, formatDuration } from "../../../terminal/plural.ts";
import { line } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { recipientFlag } from "./encryption-flags.ts";

export default command({
  summary: "Back up the database into one file, also while it is in use",
  argument: "[file]",
  argumentHelp: {
    file: {
      description:
        "file to create, or a folder for it, which exists or ends with / (default: a file in the data folder)",
      values: "files",
    },
  },
  examples: [
    "starpost backup create",
    "starpost backup create /backup/shop.tar.gz",
    "starpost backup create /backup/ --with-sealing-key --json",
    "starpost backup create /backup/ --recipient age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p",
  ],
  flags: {
    recipient: recipientFlag,
    "with-sealing-key": {
      description: "also copy the sealing key, to a second file that ends in .key; keep it in another place",
    },
  },
  notes: [
    "The file is a .tar.gz of a manifest and the database as it was at one moment: a SQLite file, or a dump by pg_dump. It " +
      "contains everything that the service stores, also photos; not the settings, import runs, and outbox of this machine. " +
      "Only its owner can read it, because it contains personal data. An existing file is never replaced.",
    "With --recipient, the file, and that of the sealing key, are encrypted in the format of age, so that this machine cannot " +
      "read them. `age-keygen` creates a key; keep the file that it writes elsewhere.",
  ],
  run: async (context, { arguments: [file], flags }) => {
    const { untilStopped, requireDatabase, resolveFile } = await import("./local-profile.ts");
    const profile = await requireDatabase(context);
    const host = await context.host();
    const { createBackup } = await context.io.loadApp();
    const made = await untilStopped(context, (signal) =>
      createBackup({
        ...host,
        profile,
        version: context.io.version,
        ...(file !== undefined && { [file.endsWith("/") ? "folder" : "file"]: resolveFile(context, file) }),
        recipients: flags.recipient,
        withSealingKey: flags["with-sealing-key"],
        signal,
      }),
    );
    const { manifest, keyFile, durationMs } = made;
    const sizes = `${formatBytes(made.bytes)}, database ${formatBytes(manifest.content.bytes)}`;
    context.messages.info(`Backed up ${profile.shownAs} in ${formatDuration(durationMs)} (${sizes}).`);
    if (keyFile !== undefined) {
      context.messages.info(`Copied the sealing key to ${keyFile}. Keep it in another place than the backup.`);
    }
    if (!made.isRecorded) {
      context.messages.warn(
        `Cannot write to ${host.paths.dataFolder}, so \`starpost backup list\` and \`starpost doctor\` do not know this backup.`,
      );
    }
    return {
      file: made.file,
      created_at: manifest.created_at,
      database: manifest.database,
      dialect: manifest.dialect,
      schema: manifest.schema,
      accounts: manifest.accounts,
      bytes: made.bytes,
      database_bytes: manifest.content.bytes,
      sha256: made.sha256,
      encrypted: made.encrypted === true,
      sealing_key_file: keyFile ?? null,
      duration_ms: durationMs,
    };
  },
  render: ({ file }) => line("file", file),
});
