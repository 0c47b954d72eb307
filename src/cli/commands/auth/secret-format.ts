import type { DeletedCredentials } from "../../../config/profile-editor.ts";
import { type SavedSecret, type SecretPlace, secretFileOf } from "../../../config/secret-store.ts";
import { countOf } from "../../../terminal/plural.ts";
import type { Context } from "../../program/context.ts";

const keyring = "the system keyring";

/** Reports where a secret is stored. A keyring that cannot be used is reported as a warning. */
export async function reportSecretPlace(context: Context, { place, keyringError }: SavedSecret): Promise<void> {
  const file = await secretFile(context);
  if (place === "keyring") context.messages.info(`Stored the secret in ${keyring}.`);
  else if (keyringError === undefined) context.messages.info(`Stored the secret in ${file}, readable only by you.`);
  else
    context.messages.warn(
      `Stored the secret in ${file}, readable only by you, because ${keyring} is not available (${keyringError}).`,
    );
}

/** Describes what was deleted, or returns undefined if nothing was stored. */
export async function describeForgotten(
  context: Context,
  { secretFrom, tokens }: DeletedCredentials,
): Promise<string | undefined> {
  const file = await secretFile(context);
  const places = secretFrom.map((place: SecretPlace) => (place === "keyring" ? keyring : file));
  const parts = [
    ...(places.length > 0 ? [`the secret in ${places.join(" and in ")}`] : []),
    ...(tokens > 0 ? [countOf(tokens, "cached token")] : []),
  ];
  return parts.length === 0 ? undefined : parts.join(" and ");
}

async function secretFile(context: Context): Promise<string> {
  const { paths } = await context.host();
  return secretFileOf(paths.configFolder);
}
