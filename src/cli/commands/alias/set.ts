import { command } from "../../program/command.ts";

export default command({
  summary: "Create or change an alias for a command",
  database: "optional",
  isLocalChange: true,
  argument: "<name> <expansion>",
  argumentHelp: {
    name: { description: "name of the alias; commands cannot be replaced", values: "aliases" },
    expansion: { description: "command with its flags, in quotes; $1 to $9 are replaced by arguments" },
  },
  examples: ["starpost alias set co 'customers show'", "starpost alias set bad 'reviews list --product $1 --limit 20'"],
  notes: ["Arguments without a placeholder are appended: with `co`, `starpost co ann@mail.example --json` works."],
  run: async (context, { arguments: [name = "", expansion = ""] }) => {
    const { setAlias } = await import("./alias-changes.ts");
    const changed = await setAlias(context, name, expansion);
    context.messages.info(`\`starpost ${name}\` now stands for \`starpost ${expansion}\`.`);
    return changed;
  },
  render: "silent",
});
