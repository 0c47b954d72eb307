import { liveFlags } from "./account-flags.ts";
import { command } from "../../program/command.ts";

export default command({
  summary: "Change a profile: live or not live, and who makes changes",
  database: "optional",
  isLocalChange: true,
  argument: "<name>",
  flags: {
    ...liveFlags,
    by: {
      value: "<name>",
      description: "the name under which changes are recorded; an empty name removes it",
      read: String,
    },
  },
  examples: [
    "starpost profile set shop --live",
    "starpost profile set shop --no-live",
    "starpost profile set shop --by Ann",
  ],
  run: async (context, { arguments: [name = ""], flags }) => {
    const { setProfile } = await import("./change.ts");
    return setProfile(context, name, flags);
  },
});
