import { silent } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";

export const authLogout = command({
  name: "auth logout",
  summary: "Forget the secret and the kept tokens of the profile; the profile itself stays",
  examples: ["starpost auth logout", "starpost auth logout --profile shop"],
  notes: [
    "Tokens that were issued stay valid on the service until they end: 14 days at most. `starpost profile remove` forgets the profile as well.",
  ],
  run: async (context) => {
    const { logOut } = await import("../profile/change.ts");
    return logOut(context);
  },
  render: ({ secret_removed_from: places, ...rest }) =>
    silent({ ...rest, secret_removed_from: places.join(" ") }),
});
