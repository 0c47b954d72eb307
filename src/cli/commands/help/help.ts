import { fields } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { widthOfHelp } from "../../program/help/help-text.ts";

export const help = command({
  name: "help",
  summary: "Show the help of a command, of a noun or of a topic",
  argument: "[words...]",
  examples: ["starpost help orders import", "starpost help topics", "starpost help exit-statuses"],
  run: async ({ io, globals }, { arguments: words }) => {
    const { findHelp } = await import("../../program/help/find-help.ts");
    const found = await findHelp(words, widthOfHelp(io.columns));
    if (globals.format !== "table") return { about: words.join(" "), help: found };
    // Its lines are broken already, and lines to copy stay whole.
    io.stdout.write(found);
    return undefined;
  },
  render: (shown) => fields(shown),
});
