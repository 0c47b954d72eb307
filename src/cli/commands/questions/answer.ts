import { operationCommand } from "../operations/operation-command.ts";

export default operationCommand("answers.create", {
  examples: [
    "starpost questions answer 3 --content 'Yes, it does.'",
    "starpost questions answer 3 --content 'Mine does.' --display-name Bo --email bo@mail.example",
  ],
});
