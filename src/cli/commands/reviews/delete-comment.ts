import { operationCommand } from "../operations/operation-command.ts";

export default operationCommand("reviews.deleteComment", {
  examples: [
    "starpost reviews delete-comment 12",
    "starpost reviews delete-comment 12 --reason 'Wrong product' --by Bo --yes",
  ],
});
