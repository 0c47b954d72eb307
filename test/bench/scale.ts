import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Figure, formatTable, storeFigures } from "./support/figures.ts";
import { openPostgres, type PostgresServer } from "./scale/postgres-server.ts";
import { runParts } from "./scale/parts.ts";

/**
 * Measures `starpost serve` on PostgreSQL behind a proxy that delays each direction by 1 ms, with 64 requests in flight,
 * and on SQLite. `--only` selects the parts whose names contain a text; `--seconds` and `--rounds` set the duration;
 * `--against` names the folder of another build to run in turn; `--accounts` sets the number of those with due emails;
 * `--postgres` uses a server instead of starting one that writes every commit to disk; `--folder` is where `scale.json` is
 * written; `--json` prints JSON instead of a table.
 */
const { values: flags } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    seconds: { type: "string", default: "10" },
    rounds: { type: "string", default: "1" },
    delay: { type: "string", default: "1" },
    against: { type: "string" },
    postgres: { type: "string" },
    accounts: { type: "string", default: "10000" },
    folder: { type: "string", default: join(tmpdir(), "starpost-bench") },
    json: { type: "boolean", default: false },
  },
});
mkdirSync(flags.folder, { recursive: true });

let server: Promise<PostgresServer> | undefined;
const scale = {
  folder: flags.folder,
  seconds: Number(flags.seconds),
  rounds: Number(flags.rounds),
  delayMs: Number(flags.delay),
  dueAccounts: Number(flags.accounts),
  builds: { "this build": ".", ...(flags.against !== undefined && { "other build": flags.against }) },
  postgres: () => (server ??= openPostgres(flags.postgres)),
};
let figures: readonly Figure[];
try {
  figures = await runParts(scale, flags.only);
} finally {
  (await server)?.stop();
}
storeFigures(join(flags.folder, "scale.json"), figures);
process.stdout.write(`${flags.json ? JSON.stringify(figures, undefined, 2) : formatTable(figures)}\n`);
