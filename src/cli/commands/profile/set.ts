import { liveFlags } from "./account-flags.ts";
import { command } from "../../program/command.ts";

export default command({
  summary: "Mark a profile as live or not live",
  database: "optional",
  isLocalChange: true,
  argument: "<name>",
  flags: liveFlags,
  examples: ["starpost profile set shop --live", "starpost profile set shop --no-live"],
  run: async (context, { arguments: [name = ""], flags }) => {
    const { readLiveFlags, setLive } = await import("./change.ts");
    return setLive(context, name, readLiveFlags(flags.live));
  },
});
