import type { DeletedCredentials } from "../../../config/profile-editor.ts";
import type { SavedSecret, SecretPlace } from "../../../config/secret-store.ts";
import { secretFileOf } from "../../../config/secret-file.ts";
import { countOf } from "../../../terminal/plural.ts";
import type { Context } from "../../program/context.ts";

const keyring = "the system's keyring";

/** Says where a secret was put; why it is not in a keyring that is there is worth knowing to scripts as well. */
export async function tellPlace(context: Context, { place, keyringError }: SavedSecret): Promise<void> {
  const file = await secretFile(context);
  if (place === "keyring") context.messages.info(`The secret is kept in ${keyring}.`);
  else if (keyringError === undefined)
    context.messages.info(`The secret is kept in ${file}, readable by you alone.`);
  else
    context.messages.warn(
      `The secret is kept in ${file}, readable by you alone: ${keyring} cannot be used (${keyringError}).`,
    );
}

/** What was forgotten, in words; nothing where nothing was kept. */
export async function describeForgotten(
  context: Context,
  { secretFrom, tokens }: DeletedCredentials,
): Promise<string | undefined> {
  const file = await secretFile(context);
  const places = secretFrom.map((place: SecretPlace) => (place === "keyring" ? keyring : file));
  const parts = [
    ...(places.length > 0 ? [`the secret in ${places.join(" and in ")}`] : []),
    ...(tokens > 0 ? [countOf(tokens, "kept token")] : []),
  ];
  return parts.length === 0 ? undefined : parts.join(" and ");
}

async function secretFile(context: Context): Promise<string> {
  const { paths } = await context.host();
  return secretFileOf(paths.configFolder);
}
