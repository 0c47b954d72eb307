import { table } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";

export default command({
  summary: "List profiles",
  database: "optional",
  examples: ["starpost profile list", "starpost profile list --json | jq -r '.[] | select(.current).name'"],
  notes: ["`signed_in` states whether a secret is stored. To check whether it is valid, run `starpost auth status`."],
  run: async (context) => {
    const { listProfiles } = await import("./records.ts");
    return listProfiles(context);
  },
  render: (profiles) =>
    table(
      profiles.map((profile) => ({ ...profile, where: profile.base_url ?? profile.database })),
      ["name", "mode", "where", "app_key", "current", "live", "signed_in", "secret_in"],
    ),
});
