import { fields } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { readText } from "../../program/flag-values.ts";

export const authLogin = command({
  name: "auth login",
  summary: "Sign in to an account of a service, and remember it as a profile",
  examples: [
    "starpost auth login --base-url https://api.example.com --app-key KEY --profile shop",
    "starpost auth login --base-url https://api.example.com --app-key KEY --secret-stdin < secret.txt",
  ],
  flags: {
    "base-url": { value: "<url>", description: "the service's address", read: readText },
    "app-key": { value: "<key>", description: "the account's app key", read: readText },
    live: { description: "a shop runs on it: writing says its name, and destroying asks with it" },
    "no-live": { description: "no shop runs on it" },
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
