import { fields } from "../../output/view.ts";
import { command } from "../command.ts";
import { readText } from "../flag-values.ts";

export const authLogin = command({
  name: "auth login",
  summary: "Sign in to an account of a service, and remember it as a profile",
  flags: {
    "base-url": { takes: "<url>", summary: "the service's address", read: readText },
    "app-key": { takes: "<key>", summary: "the account's app key", read: readText },
    "secret-stdin": { summary: "read the secret from standard input" },
  },
  run: async (context, { flags }) => {
    const { logIn } = await import("../login.ts");
    return logIn(context, {
      baseUrl: flags["base-url"],
      appKey: flags["app-key"],
      isSecretOnStdin: flags["secret-stdin"] ?? false,
    });
  },
  render: (status) => fields({ ...status }),
});
