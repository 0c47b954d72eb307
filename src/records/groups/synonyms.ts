import { type FieldSynonyms, synonyms } from "../../import/mapping/synonyms.ts";
import { productIdSynonyms } from "../product-synonyms.ts";

export const groupSynonyms: Readonly<Record<string, FieldSynonyms>> = {
  group: synonyms(
    "group|group name|product group|product group name|collection|collection name|gruppe|produktgruppe|artikelgruppe|warengruppe|groupe|groupe de produits|grupo|grupo de productos|gruppo|gruppo di prodotti|grupo de produtos|groep|productgroep|grupa|grupa produktow|produktgrupp|produktgruppe|tuoteryhma",
    "name|category|kategorie|categorie|categoria|set|family",
  ),
  product_id: productIdSynonyms,
};
