import { operationCommand } from "../operations/operation-command.ts";

export default operationCommand("reviews.setPublished", {
  summary: "Publish a review that is hidden",
  preset: { published: true },
  defaults: { reason: "published with the starpost command" },
  examples: [
    "starpost reviews publish 12",
    "starpost reviews publish 12 --reason 'Verified with the customer' --by Ann",
  ],
});
