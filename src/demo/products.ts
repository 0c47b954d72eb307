import { readJson } from "./assets.ts";

/** The products of the sample shop: prices in euros, and what share of reviews have 1 to 5 stars. */
export const products = {
  teapot: { price: 68, stars: [1, 2, 5, 22, 70] },
  mug: { price: 24, stars: [2, 4, 8, 30, 56] },
  lamp: { price: 129, stars: [3, 5, 14, 34, 44] },
  cushion: { price: 39, stars: [4, 8, 16, 34, 38] },
  planter: { price: 45, stars: [2, 3, 9, 30, 56] },
  stool: { price: 149, stars: [0, 1, 3, 14, 82] },
  clock: { price: 79, stars: [6, 10, 20, 32, 32] },
  blanket: { price: 119, stars: [1, 2, 6, 26, 65] },
} as const;
export type ProductId = keyof typeof products;

export const productIds = Object.keys(products) as readonly ProductId[];

/** The languages of the pages of the shop. Reviews have more. */
export const shopLanguages = ["en", "de", "ja", "ar"] as const;
export type ShopLanguage = (typeof shopLanguages)[number];

/** The texts of the shop in a language. */
export interface ShopTexts {
  /** The name of the language. */
  readonly name: string;
  readonly home: string;
  readonly products: string;
  readonly emails: string;
  readonly skip: string;
  readonly tagline: string;
  readonly intro: string;
  readonly shop_now: string;
  readonly favorites: string;
  readonly voices: string;
  readonly sample: string;
  readonly price: string;
  readonly cart: string;
  readonly cart_note: string;
  readonly back: string;
  readonly emails_intro: string;
  readonly language: string;
  readonly reviews: string;
  readonly items: Readonly<Record<ProductId, { readonly name: string; readonly text: string }>>;
}

export const readShopTexts = () => readJson<Readonly<Record<ShopLanguage, ShopTexts>>>("shop");

export const shopName = "Kiln & Oak";
