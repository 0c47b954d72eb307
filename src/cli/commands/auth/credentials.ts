import { usageError } from "../../../config/user-error.ts";
import { fields } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";

export default command({
  summary: "Print the app key and secret of a local profile's account",
  examples: ["starpost auth credentials --profile local", "starpost auth credentials --profile local --json"],
  run: async (context) => {
    const { name, mode } = await context.profile();
    if (mode !== "local") {
      throw usageError(
        `profile ${name} is remote; only credentials of local profiles can be printed`,
        "Use --profile local.",
      );
    }
    const connection = await context.connect();
    await connection.close();
    return { app_key: connection.appKey, secret: await connection.readSecret() };
  },
  render: (credentials) => fields(credentials),
});
