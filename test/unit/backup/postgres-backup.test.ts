import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { writeArchive } from "../../../src/backup/archive.ts";
import { createMask } from "../../../src/backup/encryption.ts";
import { createManifest } from "../../../src/backup/manifest.ts";
import { dumpDatabase, restoreDump, verifyDump } from "../../../src/backup/postgres-backup.ts";
import { postgresServer, postgresSkipped } from "../../support/postgres.ts";

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "starpost-tools-"))));
afterEach(() => rmSync(folder, { recursive: true }));

/** Nothing listens there. */
const nowhere = "postgres://user:secret@127.0.0.1:1/shop";

/** Puts a program into the folder that prints a version, and does something else if it is asked for anything else. */
function writeTool(name: string, version: string, otherwise = 'echo "no space" >&2; exit 3'): void {
  const script = `#!/bin/sh\n[ "$1" = --version ] && echo "${name} (PostgreSQL) ${version}" || { ${otherwise}; }\n`;
  writeFileSync(join(folder, name), script, { mode: 0o755 });
}

const dump = (url: string) =>
  dumpDatabase({ url, shownAs: "the database", env: { PATH: folder } }, join(folder, "content"));

const manifest = createManifest({
  starpost: "1.0.0",
  created_at: "2026-01-01T00:00:00.000Z",
  database: "the database",
  dialect: "postgres",
  database_version: "PostgreSQL 16.2",
  schema: 1,
  accounts: 1,
  namespace: "public",
  dump_version: 16,
  content: { name: "starpost.dump", bytes: 6, sha256: createHash("sha256").update("a dump").digest("hex") },
});

/** Writes a backup that contains "a dump". */
async function writeBackup(): Promise<string> {
  const [path, file] = [join(folder, "content"), join(folder, "shop.tar.gz")];
  writeFileSync(path, "a dump");
  await writeArchive(file, {
    text: { name: "manifest.json", content: JSON.stringify(manifest) },
    file: { name: "starpost.dump", path, bytes: 6 },
    modifiedMs: 0,
    isCompressed: true,
  });
  return file;
}

const failed = (message: RegExp, hint: RegExp) => ({
  name: "UserError",
  kind: "failed",
  message: expect.stringMatching(message),
  hint: expect.stringMatching(hint),
});

describe.skipIf(process.platform === "win32")("the programs of PostgreSQL", () => {
  test("are named if they are not installed", async () => {
    await expect(dump(nowhere)).rejects.toMatchObject(failed(/^pg_dump not found/, /postgresql-client\b/));
    const server = { url: nowhere, shownAs: "the database", env: { PATH: folder } };
    await expect(
      restoreDump(server, { file: "shop.tar.gz", manifest, identity: undefined }, false),
    ).rejects.toMatchObject(failed(/^psql not found/, /PATH/));
    writeTool("psql", "16.1");
    const missing = failed(/^pg_restore not found/, /PATH/);
    await expect(
      restoreDump(server, { file: "shop.tar.gz", manifest, identity: undefined }, false),
    ).rejects.toMatchObject(missing);
    expect(existsSync(join(folder, "content"))).toBe(false);
  });

  test.each([
    ["15.9", /^pg_restore 15 is too old: the backup needs version 16$/],
    ["16.0", /^pg_restore failed: no space$/],
    ["17.1 (Debian 17.1-1)", /^pg_restore failed: no space$/],
  ])("with pg_restore %s, a backup of version 16 is refused, or read", async (version, message) => {
    writeTool("pg_restore", version);
    const file = await writeBackup();
    await expect(verifyDump({ file, manifest, identity: undefined }, { env: { PATH: folder } })).rejects.toMatchObject({
      kind: "failed",
      message: expect.stringMatching(message),
    });
  });

  test.skipIf(postgresServer === undefined)("a file that cannot be written is not a failure of pg_dump", async () => {
    writeTool("pg_dump", "99.1", "while :; do echo dump; done");
    writeFileSync(join(folder, "content"), "");
    await expect(dump(postgresServer ?? "")).rejects.toMatchObject({ code: "EEXIST" });
  });

  test.skipIf(postgresServer === undefined)("a dump that is encrypted is not on the disk", async () => {
    writeTool("pg_dump", "99.1", "echo a dump");
    const mask = createMask(randomBytes);
    const server = { url: postgresServer ?? "", shownAs: "the database", env: { PATH: folder } };
    await dumpDatabase(server, join(folder, "content"), mask);
    const stored = readFileSync(join(folder, "content"));
    expect([stored.length, stored.toString()]).toEqual([7, expect.not.stringContaining("dump")]);
    expect(mask().update(stored).toString()).toBe("a dump\n");
  });

  test.skipIf(postgresServer === undefined)("a pg_dump that is older than the server is refused", async () => {
    writeTool("pg_dump", "9.6.24");
    const old = failed(/^pg_dump 9 is too old: the server \(PostgreSQL (\d+)\) needs version \1$/, /client-\d\d\)/);
    await expect(dump(postgresServer ?? "")).rejects.toMatchObject(old);
    writeTool("pg_dump", "99.1");
    await expect(dump(postgresServer ?? "")).rejects.toMatchObject({ message: "pg_dump failed: no space" });
  });
});

if (postgresServer === undefined) test.skip(`the version of the server: ${postgresSkipped}`);
