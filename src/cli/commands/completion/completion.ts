import { UserError } from "../../../config/user-error.ts";
import { line } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";

const shells = ["bash", "zsh", "fish"] as const;

export const completion = command({
  name: "completion",
  summary: "Print what makes a shell complete commands, flags and values",
  argument: "<shell>",
  examples: [
    'eval "$(starpost completion bash)"',
    'eval "$(starpost completion zsh)"',
    "starpost completion fish | source",
  ],
  notes: [
    "Each of these is for the shell that it is typed in. To have it in every new one, the script's first lines say what to add, and where.",
    "Completed are nouns, verbs, flags, and values that are known at once: profiles, import runs, what a field may be, files. No database is opened for it, and nothing is called.",
  ],
  run: async (_context, { arguments: [name = ""] }) => {
    const shell = shells.find((known) => known === name);
    if (shell === undefined) {
      throw new UserError(
        "usage",
        `the shell ${JSON.stringify(name)} is not known`,
        `There are: ${shells.join(", ")}.`,
        undefined,
        { given: name, known: shells },
      );
    }
    const { completionScript } = await import("../../program/completion/scripts.ts");
    return { shell, script: completionScript(shell).trimEnd() };
  },
  render: ({ script }) => line("script", script),
});
