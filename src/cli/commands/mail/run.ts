import { parsePublicUrl } from "../../../config/public-url.ts";
import { table } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { exitStatus } from "../../program/exit-status.ts";
import { readLease } from "../../program/flag-values.ts";

export default command({
  summary: "Send due emails and webhooks of the embedded database",
  examples: ["starpost mail run --once", "starpost mail run --public-url https://reviews.shop.example"],
  notes: ["Without --once, it runs until it receives SIGINT or SIGTERM. `starpost serve` does the same work."],
  flags: {
    once: { description: "send what is due now, then exit (status 1 if an email failed, 5 if none could be sent)" },
    lease: {
      value: "<seconds>",
      description: "lease duration in seconds, 5 to 3600; after it expires, another worker takes over (default: 60)",
      read: readLease,
    },
    "public-url": {
      value: "<url>",
      description: "base URL of links in emails (default: STARPOST_PUBLIC_URL)",
      read: parsePublicUrl,
    },
  },
  run: async (context, { flags }) => {
    const { runWork } = await import("./worker-run.ts");
    const working = { leaseMs: flags.lease, publicUrl: flags["public-url"] };
    return runWork(context, working, flags.once ?? false);
  },
  render: (summary) => {
    const { mails, webhooks } = summary;
    const rows = Object.entries({ emails: mails, webhooks }).flatMap(([kind, counts]) =>
      Object.entries(counts).map(([outcome, count]) => ({ kind, outcome, count })),
    );
    return table(rows, ["kind", "outcome", "count"]);
  },
  problem: (summary) => summary?.problem ?? null,
  exitStatus: (summary) => {
    if (!summary) return exitStatus.done;
    if (summary.state === "interrupted") return exitStatus.interrupted;
    if (summary.problem !== null) return exitStatus.temporary;
    return summary.mails.failed > 0 ? exitStatus.failed : exitStatus.done;
  },
});
