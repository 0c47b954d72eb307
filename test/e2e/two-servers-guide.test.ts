import {
  accessSync,
  chmodSync,
  constants,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { findFreePort } from "../support/loopback.ts";
import { runLine } from "../support/readme.ts";
import { canStartPostgres, startOwnPostgres } from "../support/scale-load/postgres.ts";

const page = readFileSync(resolve("docs/guides/two-servers.md"), "utf8");
const folder = mkdtempSync(join(tmpdir(), "starpost-guide-"));
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

const systemPath = `${process.env["PATH"] ?? ""}:/usr/sbin`;
const missing = ["nginx", "pgbouncer", "psql", "createdb", "curl", "jq", "openssl"].filter((name) => !find(name));

function find(program: string): string | undefined {
  return systemPath
    .split(":")
    .map((place) => join(place, program))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/** PgBouncer refuses to run as root. */
function linkPrograms(bin: string): void {
  mkdirSync(bin);
  symlinkSync(resolve("bin/starpost.js"), join(bin, "starpost"));
  if (process.getuid?.() !== 0) return;
  writeFileSync(
    join(bin, "pgbouncer"),
    `#!/bin/sh\nchown postgres pgbouncer.ini; exec runuser -u postgres -- ${find("pgbouncer")} "$@"\n`,
  );
  chmodSync(join(bin, "pgbouncer"), 0o755);
}

test.skipIf(!canStartPostgres || missing.length > 0)(
  `the commands of the guide to two servers work as documented${missing.map((name) => ` (missing: ${name})`).join("")}`,
  async () => {
    const postgres = await startOwnPostgres();
    onTestFinished(async () => void (await postgres.stop()));
    const { port: postgresPort, username } = new URL(postgres.url);
    const ports: Record<string, string> = { 5432: postgresPort };
    for (const port of [8080, 8081, 8082, 6432]) ports[port] = String(await findFreePort());
    const blocks = [...page.matchAll(/^```sh\n(.*?)^```/gms)].map(([, body = ""]) => body);
    const commands = blocks.join("\n").replaceAll(/\b(?:5432|6432|808[012])\b/g, (port) => ports[port] ?? port);
    linkPrograms(join(folder, ".bin"));
    // The server processes of PostgreSQL and PgBouncer may run as another user.
    chmodSync(folder, 0o777);
    const env = {
      PATH: [join(folder, ".bin"), dirname(process.execPath), systemPath].join(":"),
      HOME: folder,
      PGHOST: "127.0.0.1",
      PGPORT: postgresPort,
      PGUSER: username,
    };
    const script = `umask 0; set -euo pipefail; trap 'kill $(jobs -p) $(cat nginx.pid pgbouncer.pid 2>/dev/null) 2>/dev/null || true' EXIT\n${commands}`;
    const { exitCode, output } = await runLine(script, { cwd: folder, env });
    expect(exitCode, output).toBe(0);
    expect(output).toMatch(/1\n1\n/);
    expect(blocks.length).toBeGreaterThan(8);
    for (const name of ["starpost.env", "account.json", "pgbouncer.ini"]) {
      expect(statSync(join(folder, "two-servers", name)).mode & 0o777).toBe(0o600);
    }
  },
);
