import { endpointOf, specNames } from "../../contract/index.ts";
import { type ListedProduct, listProducts } from "../../service/listings.ts";
import type { Service } from "../../service/service.ts";
import type { CallOptions } from "../../service/transport.ts";
import { toRecord } from "./export.ts";
import type { Entry, Value } from "../../import/undo/previous-values.ts";
import { decideRestored, type UndoBehavior } from "../../import/undo/undo-behavior.ts";

const specs: ReadonlySet<string> = new Set(specNames);

/** The fields of a listed product by column, without those that the service does not return. */
function toFields(product: ListedProduct): Value {
  const { product_id: _id, ...fields } = toRecord(product);
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

export async function* readProducts(service: Service, options: CallOptions): AsyncGenerator<readonly Entry[]> {
  for await (const page of listProducts(service, { details: true }, options)) {
    yield page.map((product) => [product.external_id, toFields(product)]);
  }
}

/** Restores products to their previous values if they are still as the run left them. */
export const productUndo: UndoBehavior = {
  previous: { read: readProducts, isOnRequest: true, isOnlyWritten: true },
  targetOf: ({ key, payload }) => {
    const { specs: given, currency, ...fields } = payload as Value & { readonly specs?: Value };
    return {
      key,
      written: { ...(currency === undefined ? {} : { currency_iso: currency }), ...fields, ...given },
    };
  },
  now: readProducts,
  decide: (thing, past) => {
    if (past.whyNot !== undefined) return { outcome: "impossible", reason: past.whyNot };
    const before = past.get(thing.key);
    if (!before) {
      return { outcome: "impossible", reason: "the run created it, and the API cannot delete products" };
    }
    if (!thing.now) return { outcome: "kept", reason: "is no longer stored on the service" };
    const { send, ...decision } = decideRestored(thing, { before, now: thing.now, isSame, erasable: ["description"] });
    return send
      ? { ...decision, send: Object.fromEntries(send.map((field) => [field, before[field] ?? ""])) }
      : decision;
  },
  itemsACall: endpointOf("products.massUpdate").batch?.recommended ?? 1,
  send: async (service, things, options) => {
    const products = Object.fromEntries(things.map(({ key, send }) => [key, asWire(send)]));
    const { errors = {} } = await service.products.massUpdate({ products }, options);
    return new Map(
      Object.entries(errors).map(([ordinal, { product_id, field, error }]) => [
        product_id ?? ordinal,
        `${field} ${error}`,
      ]),
    );
  },
};

/** Whether the service considers two values equal: prices as numbers, currencies regardless of case. */
function isSame(field: string, a: unknown, b: unknown): boolean {
  if (field === "price") return Number(a) === Number(b);
  const [one, other] = [String(a), String(b)];
  return field === "currency_iso" ? one.toUpperCase() === other.toUpperCase() : one === other;
}

function asWire(fields: Value): Value {
  const entries = Object.entries(fields);
  const given = entries.filter(([field]) => specs.has(field));
  const wire = Object.fromEntries(entries.filter(([field]) => !specs.has(field)));
  return given.length > 0 ? { ...wire, specs: Object.fromEntries(given) } : wire;
}
