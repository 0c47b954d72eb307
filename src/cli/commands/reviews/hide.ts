import { reviewAction } from "./bulk-reviews.ts";

export default reviewAction("reviews.setPublished", {
  summary: "Hide published reviews",
  verbs: ["Hide", "Hid"],
  states: ["published"],
  preset: { published: false },
  defaults: { reason: "hidden with the starpost command" },
  examples: ["starpost reviews hide 12", "starpost reviews hide 12 --reason 'Names a person' --by Ann"],
});
