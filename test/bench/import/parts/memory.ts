import { importFile, say, type Part } from "../bench.ts";
import { realistic, writeOrders } from "../files.ts";
import { figure } from "../../figures.ts";

/** The peak memory of one run with 1,000,000 rows, and of one with ten times as many. */
export const memory: Part = async (bench) => {
  const rows = bench.rows ?? 1_000_000;
  const peak = async (count: number) => {
    const run = await importFile(bench, writeOrders(bench.folder, realistic(count)));
    const speed = `${(count / run.seconds).toFixed(0)} rows/s`;
    say(`  ${count} rows: ${run.peakMb.toFixed(0)} MB, ${run.seconds.toFixed(0)} s, ${speed}`);
    return run.peakMb;
  };
  const [small, large] = [await peak(rows), await peak(rows * 10)];
  return [
    figure(`peak at ${rows.toLocaleString("en-US")} rows`, "MB", [small], { required: 220, aim: 200 }),
    figure("peak at 10 times as many rows, relative to that", "times", [large / small], { required: 1.1, aim: 1.05 }),
  ];
};
