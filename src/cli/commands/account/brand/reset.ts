import { operationCommand } from "../../operations/operation-command.ts";

export default operationCommand("brand.reset", {
  examples: ["starpost account brand reset", "starpost account brand reset --field logo --field accent-color --yes"],
  hooks: async () => ({
    // Named like the flags of `set`.
    adjustInput: ({ fields, ...input }) => ({
      ...input,
      ...(Array.isArray(fields) && { fields: fields.map((field) => String(field).replaceAll("-", "_")) }),
    }),
  }),
});
