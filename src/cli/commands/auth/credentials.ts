import { requireLocalProfile } from "../../program/local-profile.ts";
import { command } from "../../program/command.ts";

export default command({
  summary: "Print the app key and secret of a local profile's account",
  examples: ["starpost auth credentials --profile local", "starpost auth credentials --profile local --json"],
  run: async (context) => {
    await requireLocalProfile(context, "only credentials of local profiles can be printed", "Use --profile local.");
    const connection = await context.connect();
    await connection.close();
    return { app_key: connection.appKey, secret: await connection.readSecret() };
  },
});
