import { command } from "../../program/command.ts";

export default command({
  summary: "Show help for a command or a topic",
  database: "optional",
  argument: "[about...]",
  examples: ["starpost help orders import", "starpost help topics", "starpost help exit-statuses"],
  run: async ({ io, globals, findHelp }, { arguments: names }) => {
    const about = names.join(" ");
    const text = await findHelp(about);
    if (globals.format !== "table") return { about, help: text };
    // Printed directly, because a table would wrap the lines again.
    io.stdout.write(text);
    return undefined;
  },
});
