import { synonyms, type FieldSynonyms } from "../../import/mapping/synonyms.ts";

export const couponSynonyms: Readonly<Record<string, FieldSynonyms>> = {
  code: synonyms(
    "code|coupon|coupon code|voucher|voucher code|discount code|promo code|promotion code|gutschein|gutscheincode|gutscheinnummer|rabattcode|code promo|code promotionnel|code de reduction|bon de reduction|cupon|codigo cupon|codigo descuento|codigo promocional|codice sconto|codice promozionale|buono|cupom|codigo desconto|kortingscode|kortingsbon|kod rabatowy|kupon|rabattkod|rabatkode|alennuskoodi",
    "codes|codigo|codice|kod|discount",
  ),
};
