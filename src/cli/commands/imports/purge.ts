import { table } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { readAge } from "../../program/flag-values.ts";

export const importsPurge = command({
  name: "imports purge",
  summary: "Delete the files of old import runs, including their reject files",
  examples: [
    "starpost imports purge --older-than 30d",
    "starpost imports purge --older-than 4w --unfinished --yes",
  ],
  flags: {
    "older-than": {
      value: "<age>",
      description: "delete runs that were last used longer ago than this, such as 12h, 30d, or 4w",
      required: true,
      read: readAge,
    },
    unfinished: { description: "also delete runs that can still be resumed" },
  },
  run: async (context, { flags }) => {
    const { runPurge } = await import("./purge-run.ts");
    return runPurge(context, { olderThanMs: flags["older-than"], unfinished: flags.unfinished ?? false });
  },
  render: ({ removed }) =>
    table(
      removed.map(({ import_id, kind, files, state, last_used_at, bytes, path }) => ({
        id: import_id ?? path,
        kind,
        files: files.join(" "),
        state,
        last_used: last_used_at,
        bytes,
      })),
      ["id", "kind", "files", "state", "last_used", "bytes"],
    ),
});
