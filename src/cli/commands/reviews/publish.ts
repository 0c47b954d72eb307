import { reviewAction } from "./bulk-reviews.ts";

export default reviewAction("reviews.setPublished", {
  summary: "Publish reviews that are hidden or held",
  verbs: ["Publish", "Published"],
  states: ["unpublished", "held", "pending"],
  preset: { published: true },
  defaults: { reason: "published with the starpost command" },
  examples: [
    "starpost reviews publish 12",
    "starpost reviews publish 12 --reason 'Verified with the customer' --by Ann",
  ],
});
