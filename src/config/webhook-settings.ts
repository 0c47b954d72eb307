import { join } from "node:path";
import { type Environment, readVariable } from "./environment.ts";
import type { Paths } from "./paths.ts";
import { readFileIfThere, writePrivateFile } from "./private-file.ts";
import { UserError } from "./user-error.ts";

const variable = "STARPOST_ALLOW_PRIVATE_WEBHOOKS";

/** Whether webhooks of this machine may go to its own network, and by what that is said. */
export interface WebhookSettings {
  readonly allowsPrivate: boolean;
  readonly configuredBy: "default" | "file" | "environment";
}

type Places = Pick<Paths, "configFolder">;

/**
 * Finds what was said of private addresses: by the environment, else by the file in the config folder, else no.
 * @throws UserError `usage`, `failed`
 */
export async function findWebhookSettings(env: Environment, paths: Places): Promise<WebhookSettings> {
  const given = readVariable(env, variable);
  if (given !== undefined) return { allowsPrivate: readSwitch(given, variable), configuredBy: "environment" };
  const path = fileOf(paths);
  const text = await readFileIfThere(path);
  if (text === undefined) return { allowsPrivate: false, configuredBy: "default" };
  return { allowsPrivate: parseFile(text, path), configuredBy: "file" };
}

/** `on` or `off`, also in the words that variables are often set to. */
export function readSwitch(text: string, source: string): boolean {
  if (["on", "true", "yes", "1"].includes(text)) return true;
  if (["off", "false", "no", "0"].includes(text)) return false;
  throw new UserError("usage", `${source}: ${JSON.stringify(text)} is neither on nor off`);
}

export async function writeWebhookSettings(
  paths: Places,
  { allowsPrivate }: Pick<WebhookSettings, "allowsPrivate">,
): Promise<void> {
  await writePrivateFile(
    fileOf(paths),
    `${JSON.stringify({ allow_private: allowsPrivate }, undefined, 2)}\n`,
  );
}

function fileOf({ configFolder }: Places): string {
  return join(configFolder, "webhooks.json");
}

function parseFile(text: string, path: string): boolean {
  try {
    const { allow_private } = JSON.parse(text) as { readonly allow_private?: unknown };
    if (typeof allow_private === "boolean") return allow_private;
  } catch {
    // Said below, as of any other text.
  }
  throw new UserError(
    "failed",
    `${path} is not what starpost wrote`,
    "Say it again: starpost webhooks configure --allow-private off.",
  );
}
