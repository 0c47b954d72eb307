import type { CampaignCategory } from "../../../../contract/emails/categories.ts";
import { fields } from "../../../../terminal/view.ts";
import { command } from "../../../program/command.ts";
import { valuesOfField } from "../../../program/field-values.ts";
import { oneOf, readEmailRate } from "../../../program/flag-values.ts";
import { timeFlags, toTimeRange } from "../../../program/relative-time.ts";
import { checkSelection, readListed } from "../../../program/selection.ts";
import { formatRate } from "./campaign-view.ts";

const categories = valuesOfField("campaigns.create", "category") as readonly CampaignCategory[];

export default command({
  summary: "Create and start a campaign: review requests to the customers of chosen orders",
  calls: "write",
  examples: [
    "starpost mail campaign create --name 'New teapots' --category custom_map --product teapot --rate 500/hour",
    "starpost mail campaign create --name 2025 --category custom_map --since 2025-01-01 --until 2025-12-31 --rate 20/minute",
    "starpost mail campaign create --name 'Loyal customers' --category testimonials_request --email - --rate 100/hour --yes < addresses.txt",
    "starpost orders list --since 30d --format ndjson --jq .order_id | starpost mail campaign create --name May --category custom_map --order - --rate 100/hour --yes",
  ],
  notes: [
    "Shows a forecast, and asks: how many emails are sent, which rules prevent others, and how long it takes. `starpost mail run` or `starpost serve` sends the emails at the rate.",
    "The campaign is about the orders that exist now, also about orders that were imported without emails. Orders that are too old by the email rules are only included with --since, --order, or --email. All other rules apply.",
    "Nobody is asked twice about a product, or the store: not by the same campaign, nor by a later one in the months of the rule reviewed_lately.",
  ],
  flags: {
    name: { value: "<name>", description: "name of the campaign, which no other one has", required: true },
    category: {
      value: "<category>",
      description: "custom_map: reviews of products; testimonials_request: reviews of the store",
      ...oneOf(categories),
      required: true,
    },
    rate: {
      value: "<rate>",
      description: "maximum number of emails per time: 500/hour, 20/minute, or 5/second",
      read: readEmailRate,
      required: true,
    },
    since: {
      ...timeFlags.since,
      description: "only orders with this order date or a later one: 7d, yesterday, or a date",
    },
    until: { ...timeFlags.until, description: "only orders with an order date up to this day" },
    product: {
      value: "<product_id>",
      description: "only orders of this product, and only about it",
      isRepeatable: true,
    },
    order: {
      value: "<order_id>",
      description: "only this order; - for the IDs on standard input",
      isRepeatable: true,
      exclusive: ["email"],
    },
    email: {
      value: "<address>",
      description: "only orders of this customer; - for the addresses on standard input",
      isRepeatable: true,
    },
  },
  run: async (context, { flags }) => {
    const { name, category, rate, product = [], order = [], email = [], since, until } = flags;
    const filters = Object.entries({ since, until, product: product[0], order: order[0], email: email[0] });
    checkSelection(
      [],
      filters.flatMap(([flag, value]) => (value === undefined ? [] : [flag])),
      ["starpost mail campaign create … --since 30d", "starpost mail campaign create … --order 1001"],
    );
    // Empty standard input chooses nothing, rather than everything.
    const input = {
      category,
      emails_per_hour: rate,
      ...toTimeRange(flags, context.io.clock()),
      ...(product.length > 0 && { product_ids: [...product] }),
      ...(order.length > 0 && { order_ids: [...(await readListed(context.io, order))] }),
      ...(email.length > 0 && { emails: [...(await readListed(context.io, email))] }),
    };
    const { createCampaign } = await import("./create-run.ts");
    return createCampaign(context, name, input);
  },
  render: (campaign) =>
    fields({
      id: campaign.id,
      name: campaign.name,
      category: campaign.category,
      state: campaign.state,
      rate: formatRate(campaign.emails_per_hour),
    }),
});
