/** The columns of an export of products; an import reads all of them. */
export const columns = (
  "product_id name url image_url description currency_iso price product_tags blacklisted " +
  "upc mpn brand isbn sku external_sku"
).split(" ");
