import { invitationLifetime } from "../../../contract/invitations.ts";
import { dayMs } from "../../../contract/time.ts";
import { invalidValue } from "../../../config/user-error.ts";
import { command } from "../../program/command.ts";
import { readAge } from "../../program/flag-values.ts";

export default command({
  summary: "Create an invitation code, with which one account can be created",
  isLocalChange: true,
  examples: ["starpost account invite", "starpost account invite --expires-in 24h --json"],
  flags: {
    "expires-in": {
      value: "<age>",
      description: "how long the code is valid, such as 24h or 7d",
      default: `${invitationLifetime.defaultMs / dayMs}d`,
      read: readLifetime,
    },
  },
  notes: [
    "The code is shown once. Pass it as `invitation_code` in the body of `POST /users`. It is needed only if sign-up is " +
      "closed, see `starpost serve --help`.",
  ],
  run: async (context, { flags }) => {
    const { withAccounts } = await import("./with-accounts.ts");
    await context.announceWrite();
    const invitation = await withAccounts(context, undefined, (accounts) =>
      context.change("Create an invitation code", () => accounts.invite(flags["expires-in"]), "rehearsed"),
    );
    return { invitation_code: invitation.code, expires_at: new Date(invitation.expiresAtMs).toISOString() };
  },
});

function readLifetime(text: string, flag: string): number {
  const lifetimeMs = readAge(text, flag);
  if (lifetimeMs > 0 && lifetimeMs <= invitationLifetime.maxMs) return lifetimeMs;
  throw invalidValue(text, flag, "from 1h to 365d");
}
