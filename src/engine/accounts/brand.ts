import {
  type Brand,
  type BrandSettings,
  brandFieldNames,
  builtInSettings,
  type contract,
  createBrand,
  defaultBrand,
  extensionPrefix,
  findUnreadable,
  invalidField,
  type OwnMessages,
  recordNotFound,
} from "../../contract/index.ts";
import { accountOf, accountIdOf, type Handlers, type HandlerContext } from "../kernel/handler.ts";
import { readSettings, saveSetting } from "./account-settings.ts";
import { type LogoInfo, readLogo } from "./logo.ts";
import { readAppKey } from "./account-profile.ts";

/** The setting `brand`, as JSON: the values that the account has set. The bytes of its logo are another setting. */
type StoredBrand = Partial<BrandSettings> & { readonly logo?: LogoInfo };

export const brandHandlers: Handlers<typeof contract.brand> = {
  show: async (_input, context) => describe(await readStored(accountIdOf(context), context), context),

  /**
   * Changes only the values that the call names.
   * @throws ServiceError `invalidParams`, also if a color is hard to read
   */
  set: async ({ logo: sent, ...changes }, context) => {
    const logo = sent === undefined ? undefined : readLogo(sent);
    const given = Object.entries(changes).filter(([, value]) => value !== undefined);
    const before = await readStored(accountIdOf(context), context);
    const stored = { ...before, ...Object.fromEntries(given), ...(logo && { logo: logo.info }) };
    requireContrast(stored);
    if (logo) await saveSetting({ name: "brand_logo", value: logo.base64 }, context, accountIdOf(context));
    await save(stored, context);
    return describe(stored, context);
  },

  /** @throws ServiceError `invalidParams` if a color that stays is then hard to read */
  reset: async ({ fields = brandFieldNames }, context) => {
    const stored = await readStored(accountIdOf(context), context);
    const kept = Object.fromEntries(Object.entries(stored).filter(([name]) => !fields.some((field) => field === name)));
    requireContrast(kept);
    if (fields.includes("logo")) await saveSetting({ name: "brand_logo", value: null }, context, accountIdOf(context));
    await save(kept, context);
    return describe(kept, context);
  },

  logo: async (_input, context) => {
    const { logo } = await readStored(accountIdOf(context), context);
    const { brand_logo: base64 } = await readSettings(["brand_logo"], context, accountIdOf(context));
    if (!logo || typeof base64 !== "string") throw recordNotFound("Image", "app_key", accountOf(context).appKey);
    return { content_type: logo.content_type, bytes: Buffer.from(base64, "base64") };
  },
};

/** Reads the brand of an account. */
export async function readBrand(
  accountId: number,
  context: Pick<HandlerContext, "transaction" | "dialect" | "publicUrl">,
): Promise<Brand> {
  const { brand: text, messages } = await readSettings(["brand", "messages"], context, accountId);
  const { logo, ...settings } = parseStored(text);
  const own = parseMessages(messages);
  if (!logo && !own && Object.keys(settings).length === 0) return defaultBrand;
  const brand = createBrand(settings, logo && describeLogo(logo, await readAppKey(context, accountId), context));
  return own ? { ...brand, messages: own } : brand;
}

/** Parses the setting `messages`, which is JSON. */
export function parseMessages(stored: unknown): OwnMessages | undefined {
  return typeof stored === "string" ? (JSON.parse(stored) as OwnMessages) : undefined;
}

async function readStored(
  accountId: number,
  context: Pick<HandlerContext, "transaction" | "dialect">,
): Promise<StoredBrand> {
  const { brand } = await readSettings(["brand"], context, accountId);
  return parseStored(brand);
}

function parseStored(text: unknown): StoredBrand {
  return typeof text === "string" ? (JSON.parse(text) as StoredBrand) : {};
}

async function save(stored: StoredBrand, context: HandlerContext): Promise<void> {
  const value = Object.keys(stored).length === 0 ? null : JSON.stringify(stored);
  await saveSetting({ name: "brand", value }, context, accountIdOf(context));
}

function describe({ logo, ...own }: StoredBrand, context: HandlerContext) {
  const { logo_url, logo_width, logo_height } = logo
    ? describeLogo(logo, accountOf(context).appKey, context)
    : defaultBrand;
  return { brand: { logo_url, logo_width, logo_height, ...builtInSettings, ...own } };
}

/** A URL of a logo stays valid when it is replaced, and then returns the new one, so that sent emails keep a logo. */
function describeLogo(
  { hash, width, height }: LogoInfo,
  appKey: string,
  { publicUrl }: Pick<HandlerContext, "publicUrl">,
) {
  const logo_url = `${publicUrl}${extensionPrefix}/apps/${encodeURIComponent(appKey)}/brand/logo?v=${hash}`;
  return { logo_url, logo_width: width, logo_height: height };
}

/** @throws ServiceError `invalidParams` */
function requireContrast(stored: StoredBrand): void {
  const found = findUnreadable(stored);
  if (!found) return;
  const { field, color, contrast, ratio, surface, nearest } = found;
  // Rounded down, so that it never looks sufficient.
  const shown = Math.floor(contrast * 100) / 100;
  throw invalidField(
    field,
    `${color} has a contrast of ${shown}:1 with the background ${surface}, but needs ${ratio}:1. The nearest color that has it is ${nearest}.`,
  );
}
