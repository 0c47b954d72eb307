import { findPublicUrl } from "../../../config/public-url.ts";
import { invalidValue } from "../../../config/user-error.ts";
import type { Context } from "../../program/context.ts";

/** The address at which browsers reach the service of the profile, without a trailing slash, if it is known. */
export async function findServiceUrl(context: Context): Promise<string | undefined> {
  const profile = await context.profile();
  return profile.mode === "remote" ? profile.baseUrl : findPublicUrl(context.io.env);
}

/** @throws UserError `usage` */
export function parsePageUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPage = url && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
  if (isPage) return url.href;
  throw invalidValue(text, "<url>", "the address of a page, such as https://shop.example/products/teapot");
}
