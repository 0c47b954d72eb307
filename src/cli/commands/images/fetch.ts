import { table } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { exitStatus } from "../../program/exit-status.ts";
import { integerFrom } from "../../program/flag-values.ts";
import { paceFlags } from "../records/import-flags.ts";

export default command({
  summary: "Copy the photos of imported reviews to the service",
  examples: [
    "starpost images fetch --dry-run",
    "starpost images fetch",
    "starpost images fetch --product teapot --product pan --json",
  ],
  flags: {
    product: { value: "<id>", description: "copy only photos of this product's reviews", isRepeatable: true },
    concurrency: {
      value: "<n>",
      description: "maximum number of photos copied at the same time, 1 to 16",
      default: 4,
      read: integerFrom(1, 16),
    },
    rate: paceFlags.rate,
    "dry-run": { description: "show how many photos each host has, without copying them" },
  },
  notes: [
    "An import stores the photos of reviews only as URLs, so pages load them from the previous service. The server, or for a local profile this machine, downloads them with the limits of uploads (5 MiB, JPEG, PNG, WebP, or GIF), removes their metadata, and stores them in three sizes.",
    "Photos that could not be copied are listed (exit status 3), and keep their URLs. To try them again, repeat the command: it skips those that are stored.",
    "URLs with private addresses are refused, also after a redirect, unless the account's webhooks may call them: see `starpost account allow-private-webhooks`.",
  ],
  run: async (context, { flags }) => {
    const { fetchImages } = await import("./fetch-run.ts");
    const { product: products, concurrency, rate, "dry-run": isDryRun = false } = flags;
    return fetchImages(context, { products, concurrency, rate, isDryRun });
  },
  render: (data) =>
    "hosts" in data
      ? table(data.hosts, ["host", "images"])
      : table(data.failed, ["review_id", "product_id", "url", "problem"]),
  exitStatus: (data) => {
    if ("hosts" in data) return exitStatus.done;
    if (data.state === "interrupted") return exitStatus.interrupted;
    return data.failed.length > 0 ? exitStatus.someRejected : exitStatus.done;
  },
  problem: (data) =>
    "hosts" in data || data.state === "finished" ? null : "interrupted before all photos were copied",
});
