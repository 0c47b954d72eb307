import { silent } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";

export default command({
  summary: "Delete the profile's secret and cached tokens, but keep the profile",
  database: "optional",
  isLocalChange: true,
  examples: ["starpost auth logout", "starpost auth logout --profile shop"],
  notes: [
    "Issued tokens remain valid on the service until they expire, at most 14 days. To delete the profile as well, run `starpost profile remove`.",
  ],
  run: async (context) => {
    const { logOut } = await import("../profile/change.ts");
    return logOut(context);
  },
  render: ({ secret_removed_from: places, ...rest }) => silent({ ...rest, secret_removed_from: places.join(" ") }),
});
