import { synonyms, type FieldSynonyms } from "../../import/mapping/synonyms.ts";
import {
  currencySynonyms,
  descriptionSynonyms,
  imageSynonyms,
  priceSynonyms,
  productIdSynonyms,
  productNameSynonyms,
  specsSynonyms,
  tagsSynonyms,
  urlSynonyms,
} from "../product-synonyms.ts";

export const productSynonyms: Readonly<Record<string, FieldSynonyms>> = {
  product_id: productIdSynonyms,
  name: productNameSynonyms,
  url: urlSynonyms,
  image_url: imageSynonyms,
  description: descriptionSynonyms,
  currency_iso: currencySynonyms,
  price: priceSynonyms,
  product_tags: tagsSynonyms,
  blacklisted: synonyms("blacklisted|blacklist|no mails|mails stopped|gesperrt|ausgeschlossen"),
  ...specsSynonyms,
};
