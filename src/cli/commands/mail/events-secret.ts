import { findPublicUrl } from "../../../config/public-url.ts";
import { fields } from "../../../terminal/view.ts";
import { withService } from "../../program/with-service.ts";
import { command } from "../../program/command.ts";
import { confirmDestruction } from "../../program/confirm.ts";

export const mailEventsSecret = command({
  name: "mail events-secret",
  summary: "Print where a mail provider sends its events, and the secret that signs them",
  examples: ["starpost mail events-secret", "starpost mail events-secret --rotate"],
  flags: {
    rotate: { description: "make a new secret; what is signed with the former one is refused at once" },
    "public-key": {
      value: "<base64>",
      description: "take events that this key of the provider has signed (P-256); '' takes none any more",
    },
  },
  run: async (context, { flags }) => {
    const { rotate = false, "public-key": publicKey } = flags;
    if (rotate)
      await confirmDestruction(context, "Make a new secret, and refuse events signed with the former one?");
    const asked = { rotate, ...(publicKey !== undefined && { public_key: publicKey }) };
    const told = await withService(context, (service) => service.emailEvents.setUp(asked));
    const { mode } = await context.profile();
    if (mode === "local" && findPublicUrl(context.io.env) === undefined) {
      context.messages.warn(
        "The address is that of this machine alone: STARPOST_PUBLIC_URL says where a provider reaches the service.",
      );
    }
    return told;
  },
  render: (told) => fields(told),
});
