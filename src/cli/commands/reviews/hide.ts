import { operationCommand } from "../operations/operation-command.ts";

export default operationCommand("reviews.setPublished", {
  summary: "Hide a published review",
  preset: { published: false },
  defaults: { reason: "hidden with the starpost command" },
  examples: ["starpost reviews hide 12", "starpost reviews hide 12 --reason 'Names a person' --by Ann"],
});
