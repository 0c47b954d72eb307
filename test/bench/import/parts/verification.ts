import { join } from "node:path";
import { SqliteFile } from "../../../../src/storage/sqlite/sqlite-file.ts";
import { measure } from "../../support/measure.ts";
import { program, say, withFolder, type ImportRun, type Part } from "../bench.ts";
import { realistic, writeOrders } from "../files.ts";
import { figure } from "../../support/figures.ts";

/** Compares verification with the import that it verifies, complete and with one row in a thousand missing. */
export const verification: Part = async (bench) => {
  const path = writeOrders(bench.folder, realistic(bench.rows ?? 100_000));
  const [whole, short, peaks]: [number[], number[], number[]] = [[], [], []];
  for (let n = 1; n <= bench.rounds; n++) {
    await withFolder(bench, async (folder) => {
      const env = { STARPOST_HOME: folder };
      const run = await measure(process.execPath, [program, "orders", "import", path, "--json"], { env });
      const { import_id: id } = JSON.parse(run.stdout) as ImportRun["summary"];
      const args = [program, "imports", "verify", id, "--json"];
      const found = await measure(process.execPath, args, { env });
      const database = new SqliteFile(join(folder, "starpost.db"));
      database.execute("delete from purchases where id % 1000 = 0");
      database.close();
      const missing = await measure(process.execPath, args, { env, statuses: [7] });
      whole.push(found.seconds / run.seconds);
      short.push(missing.seconds / run.seconds);
      peaks.push(found.peakMb, missing.peakMb);
      say(`  round ${n}: import ${run.seconds.toFixed(1)} s, verify ${found.seconds.toFixed(1)} s`);
    });
  }
  return [
    figure("time relative to the import", "times", whole),
    figure("the same with missing rows", "times", short),
    figure("peak memory", "MB", peaks),
  ];
};
