import type { ImportOptions } from "../../../import/options.ts";
import type { FlagValues } from "../../program/flag.ts";
import { valuesOfField } from "../../program/field-values.ts";
import { importFlags, productUrlFlag, readImportOptions, readOneOf } from "./import-flags.ts";

/** The email types, by the numbers that stand for them in a file. */
export const emailTypeIds: readonly string[] = Array.from({ length: 17 }, (_, at) => String(at + 1));

/** Only orders, products and reviews have ids that the service would drop. */
const { "fix-ids": _fixIds, ...flagsWithoutIds } = importFlags;

/** The API takes no review back. */
const { undoable: _undoable, ...reviewFlags } = importFlags;

/** The flags of an import of each kind; a plan of it has the same. */
export const kindFlags = {
  products: {
    update: { description: "change products that are there, instead of creating them" },
    ...importFlags,
    ...productUrlFlag,
  },
  orders: {
    platform: {
      value: "<name>",
      description: "the store platform that the orders come from (general)",
      values: valuesOfField("orders.create", "platform"),
    },
    "no-validate": { description: "do without the service's extra checks; order_date may then be left out" },
    "send-mail": {
      description: "ask these customers for reviews, as of new orders; without it nobody is mailed",
    },
    ...importFlags,
    ...productUrlFlag,
  },
  coupons: {
    action: {
      value: "<action>",
      description: "map_review, map_share, or map_review_share",
      required: true,
      values: valuesOfField("coupons.upload", "coupon_action"),
    },
    ...flagsWithoutIds,
  },
  unsubscribers: {
    type: {
      value: "<email_type_id>",
      description: "the email type of rows that do not say theirs",
      values: emailTypeIds,
    },
    remove: { description: "take the addresses back, instead of unsubscribing them" },
    ...flagsWithoutIds,
  },
  reviews: { ...reviewFlags, ...productUrlFlag },
} as const;

/** The kinds that have flags here. */
export type KindName = keyof typeof kindFlags;

type Reader<K extends KindName> = (flags: FlagValues<(typeof kindFlags)[K]>) => Promise<ImportOptions>;

/** What the flags of an import of each kind ask for. */
export const readKindOptions: { readonly [K in KindName]: Reader<K> } = {
  products: async (flags) => ({
    ...readImportOptions(flags),
    productUrl: flags["product-url"],
    update: flags.update ?? false,
  }),
  orders: async (flags) => {
    const { platforms } = await import("../../../contract/orders.ts");
    return {
      ...readImportOptions(flags),
      productUrl: flags["product-url"],
      platform: flags.platform === undefined ? undefined : readOneOf(flags.platform, platforms, "--platform"),
      validate: !flags["no-validate"],
      sendMail: flags["send-mail"] ?? false,
    };
  },
  coupons: async (flags) => {
    const { couponActions } = await import("../../../contract/coupons.ts");
    return { ...readImportOptions(flags), action: readOneOf(flags.action, couponActions, "--action") };
  },
  unsubscribers: async (flags) => {
    const { emailTypes } = await import("../../../contract/unsubscribers.ts");
    const { type, remove = false } = flags;
    const emailType = type === undefined ? undefined : readOneOf(type, Object.keys(emailTypes), "--type");
    return { ...readImportOptions(flags), emailType, remove };
  },
  reviews: async (flags) => ({ ...readImportOptions(flags), productUrl: flags["product-url"] }),
};
