import { command } from "../../program/command.ts";
import { exitStatus } from "../../program/exit-status.ts";

export default command({
  summary: "Show the current account and whether its credentials are valid",
  examples: ["starpost auth status", "starpost auth status --json"],
  run: async (context) => {
    const { readAuthStatus } = await import("./account-status.ts");
    return readAuthStatus(context);
  },
  exitStatus: (status) => (status.signed_in ? exitStatus.done : exitStatus.notSignedIn),
});
