import type { Random } from "../random.ts";
import type { NewOrder, OrderedItem, ProductFields } from "./shop-model.ts";

export const productIds = Array.from({ length: 14 }, (_, at) => `product-${at}`);
export const groupNames = ["Pots", "Cups", "caf\u00E9", "Tea & coffee"];
const addresses = ["ann@mail.example", "bob@mail.example", "cai@mail.example", "dee@mail.example"];
export const references = ["customer-1", "customer-2", "customer-3"];

/** A group's name as another program writes it: with spaces around it, or with accents as separate characters. */
export function respell(name: string, random: Random): string {
  const spelled = random.chance(0.3) ? name.normalize("NFD") : name;
  return random.chance(0.2) ? ` ${spelled} ` : spelled;
}

export function pickSome<T>(from: readonly T[], random: Random, most: number): T[] {
  const picked = Array.from({ length: 1 + random.below(most) }, () => random.pick(from));
  return [...new Set(picked)];
}

export function anAddress(random: Random): string {
  const address = random.pick(addresses);
  return random.chance(0.2) ? address.toUpperCase().replace("MAIL.EXAMPLE", "mail.example") : address;
}

const aPrice = (random: Random) => `${random.below(50)}.${10 + random.below(90)}`;

/** The fields of a product, some of which may be absent. */
export function someFields(random: Random): ProductFields {
  const optional: readonly (readonly [keyof ProductFields, () => string | boolean])[] = [
    ["description", () => `A description ${random.below(1_000)}`],
    ["price", () => aPrice(random)],
    ["product_tags", () => random.pick(["tea", "tea,pots", "cups"])],
    ["brand", () => random.pick(["Acme", "Bond"])],
    ["blacklisted", () => random.chance(0.3)],
  ];
  return Object.fromEntries(optional.filter(() => random.chance(0.4)).map(([name, make]) => [name, make()]));
}

export function nameAndUrl(random: Random) {
  const name = `Name ${random.below(1_000)}`;
  return { name, url: `https://shop.example/${name.replace(" ", "-")}` };
}

/** The fields of a product as the calls expect them. */
export function toWireProduct({ brand, ...fields }: ProductFields) {
  return { ...fields, ...(brand !== undefined && { specs: { brand } }) };
}

function anItem(random: Random): OrderedItem {
  const { description, price } = someFields(random);
  const quantity = random.chance(0.4) ? 1 + random.below(4) : undefined;
  const unit_prices =
    quantity !== undefined && random.chance(0.5)
      ? Array.from({ length: 1 + random.below(quantity) }, () => aPrice(random))
      : undefined;
  return {
    ...nameAndUrl(random),
    ...(typeof description === "string" && { description }),
    ...(typeof price === "string" && { price }),
    ...(quantity !== undefined && { quantity }),
    ...(unit_prices && { unit_prices }),
  };
}

/** An order, which may repeat another one, of the same customer or not. */
export function anOrder(random: Random): NewOrder {
  const ids: string[] = pickSome(productIds, random, 3);
  if (random.chance(0.1)) ids.push(`invalid ${random.below(5)}`);
  const number = random.below(150);
  // Most repeated orders have the same customer.
  const address = random.chance(0.8) ? (addresses[number % addresses.length] ?? "") : anAddress(random);
  return {
    order_id: `order-${number}`,
    email: random.chance(0.1) ? address.replace(/^./, (letter) => letter.toUpperCase()) : address,
    customer_name: `Customer ${random.below(100)}`,
    order_date: `2026-0${1 + random.below(2)}-${10 + random.below(18)}`,
    ...(random.chance(0.5) && { currency_iso: random.pick(["EUR", "USD"]) }),
    ...(random.chance(0.3) && { user_reference: random.pick(references) }),
    products: Object.fromEntries(ids.map((id) => [id, anItem(random)])),
  };
}
