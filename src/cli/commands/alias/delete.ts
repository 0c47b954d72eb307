import { command } from "../../program/command.ts";

export default command({
  summary: "Delete an alias",
  database: "optional",
  isLocalChange: true,
  argument: "<name>",
  argumentHelp: { name: { description: "name of the alias, as listed by `alias list`", values: "aliases" } },
  examples: ["starpost alias delete co", "starpost alias delete co --json"],
  run: async (context, { arguments: [name = ""] }) => {
    const { deleteAlias } = await import("./alias-changes.ts");
    const deleted = await deleteAlias(context, name);
    context.messages.info(`Deleted alias ${name}.`);
    return deleted;
  },
  render: "silent",
});
