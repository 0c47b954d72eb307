import { command } from "../../program/command.ts";

export default command({
  summary: "Set the current profile",
  database: "optional",
  isLocalChange: true,
  argument: "<name>",
  examples: ["starpost profile use local", "starpost profile use shop"],
  run: async (context, { arguments: [name = ""] }) => {
    const { applyProfile } = await import("./change.ts");
    return applyProfile(context, name);
  },
});
