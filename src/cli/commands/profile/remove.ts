import { silent } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";

export const profileRemove = command({
  name: "profile remove",
  summary: "Forget a profile, its secret and its tokens, once you have agreed",
  argument: "<name>",
  examples: ["starpost profile remove shop", "starpost profile remove shop --yes"],
  notes: [
    "Nothing of the account, or of the database, is touched. If it was the current profile, `local` is from then on.",
  ],
  run: async (context, { arguments: [name = ""] }) => {
    const { forgetProfile } = await import("./change.ts");
    return forgetProfile(context, name);
  },
  render: ({ secret_removed_from: places, ...rest }) =>
    silent({ ...rest, secret_removed_from: places.join(" ") }),
});
