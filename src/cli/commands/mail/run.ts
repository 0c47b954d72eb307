import { readPublicUrl } from "../../../config/public-url.ts";
import { silent, table } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { exitStatus } from "../../program/exit-status.ts";
import { readLease } from "../../program/flag-values.ts";

export const mailRun = command({
  name: "mail run",
  summary: "Send the mails and webhooks of the embedded database that are due",
  examples: ["starpost mail run --once", "starpost mail run --public-url https://reviews.shop.example"],
  flags: {
    once: {
      description:
        "end when all is sent that is due now: with 1 where a mail failed, with 5 where no mail could be sent",
    },
    lease: {
      value: "<seconds>",
      description: "after how long without a word another worker takes over, 5 to 3600 (60)",
      read: readLease,
    },
    "public-url": {
      value: "<url>",
      description: "the address that links of mails lead to (STARPOST_PUBLIC_URL)",
      read: readPublicUrl,
    },
  },
  run: async (context, { flags }) => {
    const { runWork } = await import("./worker-run.ts");
    const working = { leaseMs: flags.lease, publicUrl: flags["public-url"] };
    return runWork(context, working, flags.once ?? false);
  },
  render: (summary) => {
    if (!summary) return silent();
    const { mails, webhooks } = summary;
    const rows = Object.entries({ mails, webhooks }).flatMap(([what, counts]) =>
      Object.entries(counts).map(([outcome, count]) => ({ what, outcome, count })),
    );
    return table(rows, ["what", "outcome", "count"]);
  },
  isPrinted: (summary) => summary !== undefined,
  exitStatus: (summary) => {
    if (!summary) return exitStatus.done;
    if (summary.state === "interrupted") return exitStatus.interrupted;
    if (summary.problem !== null) return exitStatus.temporary;
    return summary.mails.failed > 0 ? exitStatus.failed : exitStatus.done;
  },
});
