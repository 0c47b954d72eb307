import { fields } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { readText } from "../../program/flag-values.ts";

export const authLogin = command({
  name: "auth login",
  summary: "Sign in to an account of a service and save it as a profile",
  examples: [
    "starpost auth login --base-url https://api.example.com --app-key KEY --profile shop",
    "starpost auth login --base-url https://api.example.com --app-key KEY --secret-stdin < secret.txt",
  ],
  flags: {
    "base-url": { value: "<url>", description: "service URL", read: readText },
    "app-key": { value: "<key>", description: "app key of the account", read: readText },
    live: { description: "mark the profile as live: show its name on writes and in confirmation prompts" },
    "no-live": { description: "mark the profile as not live" },
    "secret-stdin": { description: "read the secret from standard input" },
  },
  run: async (context, { flags }) => {
    const { logIn } = await import("./sign-in.ts");
    return logIn(context, {
      baseUrl: flags["base-url"],
      appKey: flags["app-key"],
      isLive: flags.live,
      isSecretOnStdin: flags["secret-stdin"] ?? false,
    });
  },
  render: (status) => fields({ ...status }),
});
