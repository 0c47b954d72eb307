import { readOneOf } from "../../program/flag-values.ts";
import { line } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";

const shells = ["bash", "zsh", "fish"] as const;

export default command({
  summary: "Generate shell completion scripts (bash, zsh, fish)",
  database: "optional",
  argument: "<shell>",
  examples: [
    'eval "$(starpost completion bash)"',
    'eval "$(starpost completion zsh)"',
    "starpost completion fish | source",
  ],
  notes: [
    "These commands enable completion in the current shell. To enable it permanently, see the first lines of the script.",
    "Completes commands, flags, and values such as profiles, import runs, operations, and files, without opening a database or making a call.",
  ],
  run: async (_context, { arguments: [name = ""] }) => {
    const shell = readOneOf(name, shells, "<shell>");
    const { completionScript } = await import("../../program/completion/scripts.ts");
    return { shell, script: completionScript(shell).trimEnd() };
  },
  render: ({ script }) => line("script", script),
});
