import { reviewAction } from "./bulk-reviews.ts";

export default reviewAction("reviews.requeue", {
  summary: "Return reviews to the moderation queue",
  verbs: ["Requeue", "Requeued"],
  states: ["published", "unpublished"],
  examples: ["starpost reviews requeue 12", "starpost reviews requeue 12 --reason 'Hidden by mistake' --by Ann"],
});
