import { command } from "../../program/command.ts";
import { accountFlags, liveFlags } from "../profile/account-flags.ts";

export default command({
  summary: "Sign in to an account of a service and save it as a profile",
  database: "optional",
  examples: [
    "starpost auth login --base-url https://api.example.com --app-key KEY --profile shop",
    "starpost auth login --base-url https://api.example.com --app-key KEY --secret-stdin < secret.txt",
  ],
  flags: { ...accountFlags, ...liveFlags },
  run: async (context, { flags }) => {
    const { logIn } = await import("./sign-in.ts");
    return logIn(context, flags);
  },
});
