import { findPublicUrl } from "../../../config/public-url.ts";
import { command } from "../../program/command.ts";
import { confirmDestruction } from "../../program/confirm.ts";

export default command({
  summary: "Show the URL and the signing secret for a mail provider's events",
  calls: "write",
  examples: [
    "starpost mail provider-events",
    "starpost mail provider-events --rotate",
    'starpost mail provider-events --public-key "$(cat provider.pem)"',
  ],
  flags: {
    rotate: { description: "create a new secret; events signed with the old one are rejected" },
    "public-key": {
      value: "<key>",
      description: "accept events signed with this key of the provider (P-256, Base64 or PEM); '' removes the key",
      read: String,
    },
  },
  run: async (context, { flags }) => {
    const { rotate = false, "public-key": publicKey } = flags;
    if (rotate) {
      await confirmDestruction(context, "Create a new secret? Events signed with the current one will be rejected.");
    }
    const change = { rotate, ...(publicKey !== undefined && { public_key: publicKey }) };
    const settings = await context.withService((service) => service.emailEvents.setUp(change));
    const { mode } = await context.profile();
    if (mode === "local" && findPublicUrl(context.io.env) === undefined) {
      context.messages.warn(
        "This URL works on this machine only. To set the URL that the provider can reach, set STARPOST_PUBLIC_URL.",
      );
    }
    return settings;
  },
});
