import { fields } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";

export const profileShow = command({
  name: "profile show",
  summary: "Show a profile, the current one where none is named, and where its secret is kept",
  argument: "[name]",
  examples: ["starpost profile show", "starpost profile show local --json"],
  notes: ["A secret is never shown. `starpost auth credentials` prints that of an account of your own."],
  run: async (context, { arguments: [name] }) => {
    const { showProfile } = await import("./show-run.ts");
    return showProfile(context, name ?? context.globals.profile);
  },
  render: (record) => fields({ ...record }),
});
