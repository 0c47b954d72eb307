import { builds, compare, importFile, say, type Part } from "../bench.ts";
import { realistic, writeOrders } from "../files.ts";
import { figure } from "../../support/figures.ts";

/** The peak memory and the speed of runs with 1,000,000 rows. */
export const memory: Part = async (bench) => {
  const rows = bench.rows ?? 1_000_000;
  const path = writeOrders(bench.folder, realistic(rows));
  const peaks: Record<string, number[]> = {};
  const competitors = builds(bench, "starpost", async (build) => {
    const run = await importFile(bench, path, { build });
    (peaks[build === "." ? "peak" : "peak, other build"] ??= []).push(run.peakMb);
    return run;
  });
  const speeds = await compare(bench, rows, competitors);
  return [...Object.entries(peaks).map(([name, all]) => figure(name, "MB", all, { required: 220 })), ...speeds];
};

/** The peak memory of one run with 10,000,000 rows, relative to that of one with a tenth. */
export const growth: Part = async (bench) => {
  const rows = bench.rows ?? 1_000_000;
  const peak = async (count: number) => {
    const run = await importFile(bench, writeOrders(bench.folder, realistic(count)));
    say(`  ${count} rows: ${run.peakMb.toFixed(0)} MB, ${run.seconds.toFixed(0)} s`);
    return run.peakMb;
  };
  const [small, large] = [await peak(rows), await peak(rows * 10)];
  return [figure("peak at 10 times as many rows", "times", [large / small], { required: 1.1, aim: 1.05 })];
};
