import { operationCommand } from "../../operations/operation-command.ts";

export default operationCommand("messages.set", {
  examples: [
    "starpost account messages set --language en --key email.map.subject --text 'How was your tea from {store}?'",
    "starpost account messages set --language de --key page.request.submit --text 'Absenden'",
  ],
});
