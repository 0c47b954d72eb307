import { table } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";

export const profileList = command({
  name: "profile list",
  summary: "List the profiles: which accounts and databases there are, and which one is used",
  examples: ["starpost profile list", "starpost profile list --json | jq -r '.[] | select(.current).name'"],
  notes: [
    "`signed_in` says whether a secret is known; `starpost auth status` finds out whether the service takes it.",
  ],
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
