import { join } from "node:path";
import { type Environment, readVariable } from "./environment.ts";
import type { Paths } from "./paths.ts";
import { readSettings, writeSettings } from "./private-file.ts";
import { invalidValue } from "./user-error.ts";

const variable = "STARPOST_ALLOW_PRIVATE_WEBHOOKS";

/** Whether webhooks of the profile's account may call private addresses, and where that is configured. */
export interface WebhookSettings {
  readonly allowsPrivate: boolean;
  readonly configuredBy: "default" | "file" | "environment";
}

type Places = Pick<Paths, "configFolder">;

/**
 * Finds the settings in the environment or in the config folder. By default, private addresses are not allowed.
 * @throws UserError `usage`, `failed`
 */
export async function findWebhookSettings(env: Environment, paths: Places): Promise<WebhookSettings> {
  const value = readVariable(env, variable);
  if (value !== undefined) return { allowsPrivate: parseSwitch(value, variable), configuredBy: "environment" };
  const hint = "Run `starpost webhooks configure --allow-private off`.";
  const allowsPrivate = await readSettings(fileOf(paths), parseFile, hint);
  return { allowsPrivate: allowsPrivate ?? false, configuredBy: allowsPrivate === undefined ? "default" : "file" };
}

/** Parses `on` or `off`, and common synonyms. */
export function parseSwitch(text: string, source: string): boolean {
  if (["on", "true", "yes", "1"].includes(text)) return true;
  if (["off", "false", "no", "0"].includes(text)) return false;
  throw invalidValue(text, source, "on or off");
}

export async function writeWebhookSettings(
  paths: Places,
  { allowsPrivate }: Pick<WebhookSettings, "allowsPrivate">,
): Promise<void> {
  await writeSettings(fileOf(paths), { allow_private: allowsPrivate });
}

function fileOf({ configFolder }: Places): string {
  return join(configFolder, "webhooks.json");
}

function parseFile(text: string): boolean {
  const { allow_private } = JSON.parse(text) as { readonly allow_private?: unknown };
  if (typeof allow_private === "boolean") return allow_private;
  throw new TypeError("not a boolean");
}
