import { countOf } from "../../../terminal/plural.ts";
import { command } from "../../program/command.ts";

export default command({
  summary: "Add a sealing key, and encrypt the secrets of the database with it",
  isLocalChange: true,
  examples: ["starpost sealing-key rotate", "starpost sealing-key rotate --profile shop --json"],
  notes: [
    "The old key remains in the key file and still opens what was encrypted with it, such as links in emails. If the " +
      "command is interrupted, run it again; it continues with the same key. Run it for every database that uses the key " +
      "file. Servers on this machine follow the rotation without a restart.",
  ],
  run: async (context) => {
    const { withSealingKeys } = await import("./with-sealing-keys.ts");
    const { confirmOperation } = await import("../../program/confirm.ts");
    await confirmOperation(
      context,
      { overwrites: { question: "Encrypt all secrets of the database with a new key" } },
      {},
    );
    const { isNewKey, resealed, unreadable } = await withSealingKeys(context, (keys) =>
      context.change("Encrypt all secrets of the database with a new key", () => keys.rotate()),
    );
    context.messages.info(
      `${isNewKey ? "Added a sealing key" : "Continued with the current sealing key"}, and encrypted ${countOf(resealed, "secret")} with it.`,
    );
    if (unreadable > 0) {
      context.messages.warn(
        `${countOf(unreadable, "secret")} cannot be decrypted with any key and remain unchanged. Restore the key from a backup.`,
      );
    }
    return { is_new_key: isNewKey, resealed, unreadable };
  },
  render: "silent",
});
