import { command } from "../../program/command.ts";

export default command({
  summary: "List aliases",
  database: "optional",
  examples: ["starpost alias list", "starpost alias list --jq '.[].alias'"],
  run: async ({ io, messages }) => {
    const { readAliases } = await import("../../program/aliases.ts");
    const aliases = [...(await readAliases(io))].map(([alias, expansion]) => ({ alias, expansion }));
    if (aliases.length === 0) messages.info("No aliases found. To create one, run `starpost alias set`.");
    return aliases;
  },
  render: ["alias", "expansion"],
});
