import type { OutputOf } from "../../../../service/transport.ts";
import { formatNumber } from "../../../../terminal/plural.ts";
import { fields } from "../../../../terminal/view.ts";
import { command } from "../../../program/command.ts";
import { readWholeNumber } from "../../../program/flag-values.ts";
import { aboutOne } from "../../../program/read-records.ts";

type Progress = OutputOf<"campaigns.get">;

export const formatRate = (perHour: number) => `${formatNumber(perHour)} emails per hour`;

export function viewOfProgress({ campaign, emails, not_sent }: Progress) {
  const { id, name, category, state, emails_per_hour, created_at } = campaign;
  const rules = Object.entries(not_sent).map(([rule, count]) => [`not sent: ${rule}`, count]);
  const { not_sent: _total, ...sent } = emails;
  return fields({
    id,
    name,
    category,
    state,
    rate: formatRate(emails_per_hour),
    created_at,
    ...sent,
    ...(Object.fromEntries(rules) as Record<string, number>),
  });
}

/** A command that shows or changes one campaign, and shows its progress. */
export const campaignCommand = (
  verb: "get" | "stop" | "resume",
  { summary, notes = [] }: { readonly summary: string; readonly notes?: readonly string[] },
) =>
  command({
    summary,
    calls: verb === "get" ? "read" : "write",
    argument: "<id>",
    examples: ["3", "3 --json"].map((words) => `starpost mail campaign ${verb === "get" ? "show" : verb} ${words}`),
    notes,
    run: (context, { arguments: [id = ""] }) => {
      const campaign_id = readWholeNumber(id, "<id>");
      return context.withService((service) =>
        aboutOne("Campaign", campaign_id, () => service.campaigns[verb]({ campaign_id })),
      );
    },
    render: viewOfProgress,
  });
