import { createHash } from "node:crypto";
import { isLocalHost } from "../../../config/public-url.ts";
import { usageError } from "../../../config/user-error.ts";
import type { Context } from "../../program/context.ts";
import { createParts, type PinnedFiles, type Platform, type Snippet } from "./snippet-parts.ts";
import { findServiceUrl } from "./service-url.ts";

interface SnippetFlags {
  readonly for: Platform;
  readonly product?: string | undefined;
  readonly pinned?: boolean | undefined;
  readonly "public-url"?: string | undefined;
}

/** @throws UserError `usage` if the address of the service is not known */
export async function createSnippet(context: Context, flags: SnippetFlags): Promise<Snippet> {
  const baseUrl = flags["public-url"] ?? (await findServiceUrl(context));
  if (baseUrl === undefined) {
    throw usageError(
      "the address at which browsers reach the service is not known",
      "Set STARPOST_PUBLIC_URL, or pass --public-url, such as https://reviews.shop.example.",
    );
  }
  if (isLocalHost(new URL(baseUrl).hostname)) {
    context.messages.warn(`${baseUrl} works on this machine only. For a shop, use the public address (--public-url).`);
  }
  const profile = await context.profile();
  const appKey =
    profile.mode === "remote" ? profile.appKey : await context.withConnection(async ({ appKey: key }) => key);
  const pinned = flags.pinned ? await listPinnedFiles(baseUrl) : undefined;
  return createParts(flags.for, { baseUrl, appKey, product: flags.product, pinned });
}

/** Lists the files of this version, with those of all elements and languages. */
async function listPinnedFiles(baseUrl: string): Promise<PinnedFiles> {
  const { assets, bundles, loader } = await import("../../../shop/assets.ts");
  const describe = (name: string) => ({
    url: `${baseUrl}/starpost/v1/elements/${name}`,
    integrity: assets[name]?.integrity ?? "",
  });
  const names = new Set(Object.values(bundles).flat());
  names.delete(loader.name);
  return {
    script: describe(loader.name),
    others: [...names].map(describe),
    hashImportMap: (importMap) => `'sha256-${createHash("sha256").update(importMap).digest("base64")}'`,
  };
}
