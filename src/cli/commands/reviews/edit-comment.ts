import { operationCommand } from "../operations/operation-command.ts";

export default operationCommand("reviews.editComment", {
  examples: [
    "starpost reviews edit-comment 12 --content 'Thank you, Ann!'",
    "starpost reviews edit-comment 12 --content 'Thank you!' --reason 'Named the customer' --by Bo",
  ],
});
