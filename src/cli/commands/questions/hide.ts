import { operationCommand } from "../operations/operation-command.ts";

export default operationCommand("questions.setPublished", {
  summary: "Hide a question with its answers",
  preset: { published: false },
  examples: ["starpost questions hide 3", "starpost questions hide 3 --reason 'Names a person' --by Bo"],
});
