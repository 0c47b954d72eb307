import * as z from "zod";
import {
  type Endpoint,
  type OperationName,
  orderHead,
  orderProduct,
  productChange,
  productInput,
} from "../../contract/index.ts";

const orderProducts = z.record(z.string(), orderProduct());

export const bulkOrder = orderHead().extend({ products: orderProducts });

/**
 * The elements of bulk calls as they should be. The calls themselves take any element, since each is checked by
 * itself and told in `errors`.
 */
const elements: Partial<Record<OperationName, Readonly<Record<string, z.ZodType>>>> = {
  "orders.create": bulkOrder.shape,
  "orders.massCreate": { orders: z.array(bulkOrder) },
  "products.massCreate": { products: z.record(z.string(), productInput()) },
  "products.massUpdate": { products: z.record(z.string(), productChange()) },
};

/** A call's input as its callers should make it. */
export function documentedInput(name: OperationName, { input }: Endpoint): z.ZodType {
  const fields = elements[name];
  return fields && input instanceof z.ZodObject ? input.extend(fields) : input;
}
