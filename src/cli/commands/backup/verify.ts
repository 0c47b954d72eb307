import type { VerifiedBackup } from "../../../app/ports.ts";
import { formatBytes } from "../../../terminal/plural.ts";
import { fields } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { identityFlag } from "./encryption-flags.ts";

export default command({
  summary: "Check that a backup is complete and can be restored",
  database: "optional",
  argument: "<file>",
  argumentHelp: { file: { description: "backup, as listed by `backup list`", values: "files" } },
  examples: [
    "starpost backup verify shop.tar.gz",
    "starpost backup verify shop.tar.gz --json",
    "starpost backup verify shop.tar.gz.age --identity key.txt",
  ],
  flags: { identity: identityFlag },
  notes: [
    "Reads the complete file: its checksums, and every page of a SQLite database (next to the backup, or in TMPDIR if that " +
      "folder is not writable) or every table of a PostgreSQL dump. Needs no database. Of an encrypted SQLite database, only the checksum is checked, " +
      "because nothing decrypted is written to a disk.",
  ],
  run: async (context, { arguments: [file = ""], flags: { identity } }) => {
    const { untilStopped, resolveFile } = await import("./local-profile.ts");
    const { env, random } = context.io;
    const { verifyBackup } = await context.io.loadApp();
    const found = await untilStopped(context, (signal) =>
      verifyBackup({
        file: resolveFile(context, file),
        identityFile: identity === undefined ? undefined : resolveFile(context, identity),
        env,
        random,
        signal,
      }),
    );
    return { file: found.file, ...describeManifest(found.manifest), encrypted: found.isEncrypted };
  },
  render: ({ database_bytes, ...manifest }) => fields({ ...manifest, size: formatBytes(database_bytes) }),
});

/** What a backup contains, as shown by commands. */
function describeManifest(manifest: VerifiedBackup["manifest"]) {
  const { created_at, database, dialect, database_version, schema, accounts, starpost, content } = manifest;
  return { created_at, database, dialect, database_version, schema, accounts, starpost, database_bytes: content.bytes };
}
