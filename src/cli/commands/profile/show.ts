import { command } from "../../program/command.ts";

export default command({
  summary: "Show a profile (default: the current one) and where its secret is stored",
  database: "optional",
  argument: "[name]",
  examples: ["starpost profile show", "starpost profile show local --json"],
  notes: ["The secret is not shown. To print the secret of a local profile, run `starpost auth credentials`."],
  run: async (context, { arguments: [name] }) => {
    const { showProfile } = await import("./records.ts");
    return showProfile(context, name ?? context.globals.profile);
  },
});
