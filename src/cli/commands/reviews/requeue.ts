import { operationCommand } from "../operations/operation-command.ts";

export default operationCommand("reviews.requeue", {
  summary: "Return a review to the moderation queue",
  examples: ["starpost reviews requeue 12", "starpost reviews requeue 12 --reason 'Hidden by mistake' --by Ann"],
});
