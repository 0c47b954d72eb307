import { usageError } from "../../../config/user-error.ts";
import { line } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";

const shells = ["bash", "zsh", "fish"] as const;

export const completion = command({
  name: "completion",
  summary: "Generate shell completion scripts (bash, zsh, fish)",
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
    const shell = shells.find((known) => known === name);
    if (shell === undefined) {
      throw usageError(
        `unsupported shell ${JSON.stringify(name)}`,
        `Supported shells: ${shells.join(", ")}.`,
        undefined,
        { given: name, known: shells },
      );
    }
    const { completionScript } = await import("../../program/completion/scripts.ts");
    return { shell, script: completionScript(shell).trimEnd() };
  },
  render: ({ script }) => line("script", script),
});
