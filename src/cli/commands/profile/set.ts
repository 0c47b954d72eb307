import { fields } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";

export const profileSet = command({
  name: "profile set",
  summary: "Say whether a shop runs on a profile",
  argument: "<name>",
  flags: {
    live: { description: "a shop runs on it: writing says its name, and destroying asks with it" },
    "no-live": { description: "no shop runs on it" },
  },
  examples: ["starpost profile set shop --live", "starpost profile set shop --no-live"],
  run: async (context, { arguments: [name = ""], flags }) => {
    const { readLiveFlags, setLive } = await import("./change.ts");
    return setLive(context, name, readLiveFlags(flags.live));
  },
  render: (record) => fields({ ...record }),
});
