import { text } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { accountFlags, liveFlags } from "../profile/account-flags.ts";

export default command({
  summary: "Set up an embedded database on this machine, or sign in to a service",
  database: "created",
  flags: {
    local: {
      description: "use an embedded database on this machine",
      exclusive: ["base-url", "app-key", "secret-stdin", "live"],
    },
    ...accountFlags,
    live: liveFlags.live,
  },
  examples: [
    "starpost init",
    "starpost init --local",
    "starpost init --base-url https://api.example.com --app-key KEY --secret-stdin < secret.txt",
  ],
  notes: [
    "On a terminal, it prompts for missing values. Running it again keeps existing data.",
    "--profile sets the name of the profile for a service (default: `default`). With --local, it names a profile whose database is created (default: `local`).",
  ],
  run: async (context, { flags }) => {
    const { setUp } = await import("./init-run.ts");
    return setUp(context, flags);
  },
  render: ({ next, ...done }) =>
    text(["Next steps:", ...next.map((line) => `  ${line}`)], [{ ...done }], Object.keys(done)),
});
