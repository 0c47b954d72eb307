import { fields } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";

export const profileSet = command({
  name: "profile set",
  summary: "Mark a profile as live or not live",
  argument: "<name>",
  flags: {
    live: { description: "mark the profile as live: show its name on writes and in confirmation prompts" },
    "no-live": { description: "mark the profile as not live" },
  },
  examples: ["starpost profile set shop --live", "starpost profile set shop --no-live"],
  run: async (context, { arguments: [name = ""], flags }) => {
    const { readLiveFlags, setLive } = await import("./change.ts");
    return setLive(context, name, readLiveFlags(flags.live));
  },
  render: (record) => fields({ ...record }),
});
