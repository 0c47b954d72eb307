import { builds, compare, importFile, withServer, type Part } from "../bench.ts";
import { realistic, writeOrders } from "../files.ts";

/** Imports orders into a server on loopback without pacing, and compares that with the embedded engine. */
export const http: Part = async (bench) => {
  const file = realistic(bench.rows ?? 150_000);
  const path = writeOrders(bench.folder, file);
  const competitors = {
    ...builds(bench, "over HTTP", (build) =>
      withServer(bench, (env) => importFile(bench, path, { env, build, flags: ["--rate", "0"] }), { build }),
    ),
    ...builds(bench, "in-process", (build) => importFile(bench, path, { build })),
  };
  return compare(bench, file.rows, competitors, { "in-process": { required: 0.85, aim: 0.9 } });
};
