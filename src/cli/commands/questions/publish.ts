import { operationCommand } from "../operations/operation-command.ts";

export default operationCommand("questions.setPublished", {
  summary: "Publish a question that is hidden or unconfirmed",
  preset: { published: true },
  examples: ["starpost questions publish 3", "starpost questions publish 3 --reason 'Confirmed by phone' --by Bo"],
});
