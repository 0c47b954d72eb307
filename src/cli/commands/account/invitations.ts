import { command } from "../../program/command.ts";

export default command({
  summary: "List invitations that have not been used",
  examples: ["starpost account invitations", "starpost account invitations --json"],
  notes: ["Codes are not stored, so they cannot be shown again. Expired invitations are not listed."],
  run: async (context) => {
    const { withAccounts } = await import("./with-accounts.ts");
    const invitations = await withAccounts(context, undefined, (accounts) => accounts.invitations());
    return invitations.map(({ createdAtMs, expiresAtMs }) => ({
      created_at: new Date(createdAtMs).toISOString(),
      expires_at: new Date(expiresAtMs).toISOString(),
    }));
  },
  render: ["created_at", "expires_at"],
});
