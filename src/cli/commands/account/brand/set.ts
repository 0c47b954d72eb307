import { usageError } from "../../../../config/user-error.ts";
import { operationCommand } from "../../operations/operation-command.ts";

export default operationCommand("brand.set", {
  files: ["logo"],
  examples: [
    "starpost account brand set --logo logo.png --accent-color '#7a1f5c'",
    "starpost account brand set --font serif --radius 0 --color-scheme light",
    "starpost account brand set --postal-address 'Tea & Cups, 1 Harbor Street, 20457 Hamburg'",
  ],
  hooks: async () => ({
    adjustInput: (input) => {
      if (Object.keys(input).length > 0) return input;
      throw usageError("no field given", "Set --logo, --accent-color, or another field. --help describes them.");
    },
  }),
});
