import { UserError } from "../../../config/user-error.ts";
import { table } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { readAge } from "../../program/flag-values.ts";

export const importsPurge = command({
  name: "imports purge",
  summary: "Remove the files of old import runs, with their reject files",
  examples: [
    "starpost imports purge --older-than 30d",
    "starpost imports purge --older-than 4w --unfinished --yes",
  ],
  flags: {
    "older-than": {
      takes: "<age>",
      summary: "those last used longer ago than this: 12h, 30d, 4w (required)",
      read: readAge,
    },
    unfinished: { summary: "also those that could still be resumed" },
  },
  run: async (context, { flags }) => {
    const olderThanMs = flags["older-than"];
    if (olderThanMs === undefined) {
      throw new UserError("usage", "--older-than is missing", "Say how old: --older-than 30d.");
    }
    const { runPurge } = await import("./purge-run.ts");
    return runPurge(context, { olderThanMs, unfinished: flags.unfinished ?? false });
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
