import { operationCommand } from "../operations/operation-command.ts";

export default operationCommand("credentials.create", {
  summary: "Create a second secret of the account, whose tokens have a role, and print it",
  examples: [
    "starpost account create-credential --role support --name 'Ann, support desk'",
    "(umask 077; starpost account create-credential --role importer --json > credential.json)",
  ],
  hooks: async () => ({
    readResponse: ({ messages }, _input, response) => {
      messages.info("Save the secret now: it is not shown again. Its holder signs in with `starpost auth login`.");
      return response;
    },
  }),
});
