import { operationCommand } from "../../operations/operation-command.ts";

export default operationCommand("reviewRules.add", {
  arguments: ["action"],
  examples: [
    "starpost reviews rules add hold --word casino --word 'free money'",
    "starpost reviews rules add reject --links 3 --verification anonymous --reason Spam",
    "starpost reviews rules add publish --min-score 4 --verification verified",
  ],
});
