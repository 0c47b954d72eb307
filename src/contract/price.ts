/**
 * Removes insignificant zeros from a price.
 * Source: spec "Order (input)": in a bulk call, a price is a number, which has no such zeros.
 */
export function toShortPrice(price: string): string {
  const parts = /^(\d*)(?:\.(\d*))?$/.exec(price);
  if (!parts) return price;
  const integer = (parts[1] ?? "").replace(/^0+(?=\d)/, "") || "0";
  const decimals = (parts[2] ?? "").replace(/(?<!0)0+$/, "");
  return decimals === "" ? integer : `${integer}.${decimals}`;
}
