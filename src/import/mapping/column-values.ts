import { platforms, readEmailTypeId } from "../../contract/index.ts";
import { isNumberedDate, readNamedDate } from "../layouts/dates.ts";
import { readDate } from "../check/date.ts";
import { readPrice } from "../check/price.ts";

/** What a field's values look like, and how strongly a column of them suggests the field on its own, from 0 to 1. */
interface ValueForm {
  readonly fits: (value: string) => boolean;
  readonly alone: number;
}

const urlPattern = /^https?:\/\/\S+$/i;
const imagePattern = /\.(?:jpe?g|png|gif|webp|avif|svg|bmp|tiff?)(?:[?#].*)?$/i;

const isUrl = (value: string) => urlPattern.test(value);
const isImage = (value: string) => value.split(/[|,]\s*/).every((one) => isUrl(one) && imagePattern.test(one));
const isNumber = (value: string) => /^-?\d+(?:[.,]\d+)?$/.test(value);
const isEmail = (value: string) => /^[^\s@,;<>()"]+@[^\s@,;<>()"]+\.[^\s@,;<>()".]+$/.test(value);
const isDate = (value: string) =>
  readDate(value) !== undefined || isNumberedDate(value) || readNamedDate(value) !== value || isShortDate(value);
const isShortDate = (value: string) => /^\d{1,2}[./-]\d{1,2}[./-]\d{2,4}(?:[ T,].*)?$/.test(value);
const isPrice = (value: string) => readPrice(value) !== undefined && !isDate(value);
const isId = (value: string) => value.length <= 64 && !/\s\S+\s/.test(value) && !isUrl(value) && !isEmail(value);
const isText = (value: string) => /\p{L}{2}/u.test(value) && !isUrl(value) && !isEmail(value);

const url: ValueForm = { fits: (value) => isUrl(value) && !imagePattern.test(value), alone: 0.6 };
const image: ValueForm = { fits: isImage, alone: 0.6 };
const id: ValueForm = { fits: isId, alone: 0 };
const name: ValueForm = { fits: isText, alone: 0 };
const price: ValueForm = { fits: isPrice, alone: 0 };

/** By field; fields that are not listed may hold anything. */
const forms: Readonly<Record<string, ValueForm>> = {
  email: { fits: isEmail, alone: 0.75 },
  order_id: id,
  product_id: id,
  user_reference: id,
  sku: id,
  code: id,
  customer_name: { fits: (value) => isText(value) && !/\d{3}/.test(value), alone: 0 },
  product_name: name,
  name,
  product_title: name,
  date: { fits: isDate, alone: 0.55 },
  review_score: { fits: (value) => /^[1-5](?:[.,]0+)?$/.test(value), alone: 0 },
  review_content: { fits: isText, alone: 0 },
  review_title: { fits: isText, alone: 0 },
  display_name: { fits: isText, alone: 0 },
  order_date: { fits: isDate, alone: 0.55 },
  currency_iso: { fits: (value) => /^[A-Za-z]{3}$/.test(value), alone: 0 },
  platform: { fits: (value) => (platforms as readonly string[]).includes(value), alone: 0.7 },
  product_url: url,
  url,
  product_image: image,
  product_image_url: image,
  image_url: image,
  product_price: price,
  price,
  quantity: { fits: (value) => /^\d{1,4}(?:[.,]0+)?$/.test(value), alone: 0 },
  upc: { fits: (value) => /^\d{8,14}$/.test(value), alone: 0.5 },
  blacklisted: { fits: (value) => /^(?:true|false|yes|no|y|n|[01])$/i.test(value), alone: 0 },
  brand: { fits: (value) => !isUrl(value) && !isNumber(value), alone: 0 },
  email_type_id: { fits: (value) => readEmailTypeId(value) !== undefined, alone: 0 },
};

/**
 * The share of a column's values that look like the field's, and how strongly that suggests the field if the column's
 * name does not. Undefined for a column without values, or a field that may hold anything.
 */
export function fitValues(
  field: string,
  values: readonly string[],
): { readonly fit: number; readonly alone: number } | undefined {
  const form = forms[field];
  if (!form || values.length === 0) return undefined;
  const fit = values.filter((value) => form.fits(value)).length / values.length;
  return { fit, alone: form.alone };
}
