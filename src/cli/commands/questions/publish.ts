import { operationCommand } from "../operations/operation-command.ts";

export default operationCommand("questions.setPublished", {
  name: "questions publish",
  summary: "Publish a question that is hidden or unconfirmed",
  preset: { published: true },
  examples: ["starpost questions publish 3", "starpost questions publish 3 --reason 'Confirmed by phone' --by Bo"],
});
