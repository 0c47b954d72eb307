import { failedError } from "../../../../config/user-error.ts";
import { hourMs } from "../../../../contract/time.ts";
import type { InputOf, OutputOf } from "../../../../service/transport.ts";
import { countOf, formatDuration } from "../../../../terminal/plural.ts";
import { alignRows } from "../../../../terminal/sections.ts";
import { confirmDestruction } from "../../../program/confirm.ts";
import type { Context } from "../../../program/context.ts";
import { reportSkipped } from "../../../program/selection.ts";
import { formatRate } from "./campaign-view.ts";

type Input = InputOf<"campaigns.forecast">;
type Forecast = OutputOf<"campaigns.forecast">;

/** Creates a campaign after a forecast and a confirmation. */
export async function createCampaign(context: Context, name: string, input: Input) {
  const forecast = await context.withService((service) => service.campaigns.forecast(input));
  const missing = forecast.not_found.map((id) => ({ id, problem: "not found" }));
  reportSkipped(context, missing, ["order or customer", "orders or customers"]);
  context.messages.info(describeForecast(forecast, input));
  if (forecast.mails === 0) throw failedError("the campaign would send no emails");
  const { mails, people } = forecast;
  const question = `Send ${countOf(mails, "email")} to ${countOf(people, "person", "people")}?`;
  await confirmDestruction(context, question);
  const { campaign } = await context.withService((service) => service.campaigns.create({ name, ...input }));
  context.messages.info(
    `Started campaign ${campaign.id}. \`starpost mail run\` or \`starpost serve\` sends its emails; ` +
      `to see how many, run \`starpost mail campaign show ${campaign.id}\`.`,
  );
  return campaign;
}

function describeForecast(forecast: Forecast, { emails_per_hour }: Input): string[] {
  const { orders, past_orders, mails, asked_before, not_sent, hours } = forecast;
  const prevented = Object.entries(not_sent).filter(([, count]) => count > 0);
  const rows = [
    ["orders", countOf(orders, "order")],
    ...(past_orders > 0
      ? [["", `${countOf(past_orders, "of them was", "of them were")} imported without emails`]]
      : []),
    ["emails", countOf(mails, "email")],
    ...prevented.map(([rule, count]) => ["not sent", `${countOf(count, "email")}: ${rule}`]),
    ...(asked_before > 0 ? [["not sent", `${countOf(asked_before, "email")}: asked by a campaign before`]] : []),
    ["time", `${formatDuration(hours * hourMs)} at ${formatRate(emails_per_hour)}`],
  ];
  return alignRows(rows);
}
