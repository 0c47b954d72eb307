import { importFile, withServer, type Part } from "../bench.ts";
import { realistic, writeOrders } from "../files.ts";
import { figure } from "../../support/figures.ts";

/** Sends about 300 calls of 20 orders to a server at 5 calls per second. */
export const paced: Part = async (bench) => {
  const path = writeOrders(bench.folder, realistic(9_000));
  const flags = ["--rate", "5", "--batch-size", "20"];
  const { summary, seconds } = await withServer(bench, (env) => importFile(bench, path, { env, flags }));
  const { sent, throttled } = summary.calls;
  // The first call starts immediately, so n calls take (n - 1) / 5 seconds.
  return [
    figure("calls, relative to the limit", "times", [sent / (seconds * 5 + 1)]),
    figure("429 responses", "calls", [throttled]),
  ];
};
