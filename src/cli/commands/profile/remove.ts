import { silent } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";

export default command({
  summary: "Delete a profile with its secret and cached tokens",
  database: "optional",
  isLocalChange: true,
  argument: "<name>",
  examples: ["starpost profile remove shop", "starpost profile remove shop --yes"],
  notes: [
    "The account or database itself is not changed. If the profile was the current one, `local` becomes the current profile.",
  ],
  run: async (context, { arguments: [name = ""] }) => {
    const { forgetProfile } = await import("./change.ts");
    return forgetProfile(context, name);
  },
  render: ({ secret_removed_from: places, ...rest }) => silent({ ...rest, secret_removed_from: places.join(" ") }),
});
