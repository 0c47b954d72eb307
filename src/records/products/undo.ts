import { endpointOf, specNames } from "../../contract/index.ts";
import { type ListedProduct, listProducts } from "../../service/listings.ts";
import type { Service } from "../../service/service.ts";
import type { CallOptions } from "../../service/transport.ts";
import { toRecord } from "./export.ts";
import type { Entry, Value } from "../../import/undo/previous-values.ts";
import type { Decision, UndoTarget, UndoBehavior } from "../../import/undo/undo-behavior.ts";

const specs: ReadonlySet<string> = new Set(specNames);

/** The fields of a listed product by column, without those that the service does not return. */
function toFields(product: ListedProduct): Value {
  const { product_id: _id, ...fields } = toRecord(product);
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

async function* readFields(service: Service, options: CallOptions): AsyncGenerator<readonly Entry[]> {
  for await (const page of listProducts(service, { details: true }, options)) {
    yield page.map((product) => [product.external_id, toFields(product)]);
  }
}

/** Restores products to their previous values if they are still as the run left them. */
export const productUndo: UndoBehavior = {
  previous: { read: readFields, isOnRequest: true, isOnlyWritten: true },
  targetOf: ({ key, payload }) => {
    const { specs: given, currency, ...fields } = payload as Value & { readonly specs?: Value };
    return {
      key,
      written: { ...(currency === undefined ? {} : { currency_iso: currency }), ...fields, ...given },
    };
  },
  now: readFields,
  decide: (thing, past) => {
    if (past.whyNot !== undefined) return { outcome: "impossible", reason: past.whyNot };
    const before = past.get(thing.key);
    if (!before) {
      return { outcome: "impossible", reason: "the run created it, and the API cannot delete products" };
    }
    return thing.now
      ? decideChanged(thing, before, thing.now)
      : { outcome: "kept", reason: "is no longer stored on the service" };
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

/**
 * Assumed: a product with a field that has changed since is left alone, since restoring part of it would be
 * inconsistent; an update can erase only a description.
 */
function decideChanged({ written, wasSent }: UndoTarget, before: Value, now: Value): Decision {
  const fields = Object.keys(written);
  const untold = fields.filter((field) => !(field in before && field in now));
  const differing = fields.filter((field) => !untold.includes(field) && !isSame(field, now[field], before[field]));
  const changed = differing.filter((field) => !isSame(field, now[field], written[field]));
  if (changed.length > 0) return { outcome: "kept", reason: `changed since: ${changed.join(", ")}` };
  const stuck = differing.filter((field) => field !== "description" && isEmpty(before[field]));
  const restored = differing.filter((field) => !stuck.includes(field));
  const send = Object.fromEntries(restored.map((field) => [field, before[field] ?? ""]));
  const stays = [
    stuck.length > 0 ? `${stuck.join(", ")} had no value, and the API can erase only a description` : "",
    untold.length > 0 ? `${untold.join(", ")} stays, since the service does not return its value` : "",
  ].filter((text) => text !== "");
  const isBack = restored.length > 0 || wasSent;
  const result = isBack || stays.length === 0 ? "has its previous values" : "is as the run wrote it";
  const reason = stays.length > 0 ? `${result}, but: ${stays.join("; ")}` : result;
  const outcome = stuck.length > 0 ? "impossible" : isBack ? "reversed" : "kept";
  return { outcome, reason, ...(restored.length > 0 ? { send } : {}) };
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === "";
}

/** Whether the service considers two values equal: prices as numbers, currencies regardless of case. */
function isSame(field: string, a: unknown, b: unknown): boolean {
  if (isEmpty(a) || isEmpty(b)) return isEmpty(a) && isEmpty(b);
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
