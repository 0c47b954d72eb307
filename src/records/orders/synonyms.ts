import type { LineColumn, orderFields } from "../../contract/record-fields.ts";
import { synonyms, type FieldSynonyms } from "../../import/mapping/names.ts";
import { productSynonyms } from "../product-synonyms.ts";

type Column = keyof typeof orderFields | LineColumn | "platform" | "product_id" | "quantity";

export const orderSynonyms: Readonly<Record<Column, FieldSynonyms>> = {
  order_id: synonyms(
    "order id|order number|order no|order nr|order ref|order reference|order name|purchase id|transaction id|bestellnummer|bestellnr|bestell nr|bestell id|auftragsnummer|auftragsnr|auftrags nr|belegnummer|rechnungsnummer|numero commande|no commande|n commande|id commande|reference commande|ref commande|numero pedido|n pedido|no pedido|id pedido|codigo pedido|referencia pedido|numero ordine|n ordine|id ordine|codice ordine|numero do pedido|numero encomenda|id encomenda|bestelnummer|ordernummer|bestelling id|numer zamowienia|nr zamowienia|id zamowienia|ordrenummer|ordrenr|tilausnumero|cislo objednavky",
    "order|orders|reference|invoice|invoice number|bestellung|auftrag|commande|pedido|ordine|encomenda|bestelling|zamowienie|ordre|id|number|nummer|numero",
  ),
  email: synonyms(
    "email|e mail|email address|customer email|buyer email|contact email|billing email|recipient email|kunden email|kundenemail|email adresse|mailadresse|kaufer email|rechnung email|courriel|adresse email|adresse mail|adresse electronique|mail client|email client|correo|correo electronico|email cliente|correo cliente|posta elettronica|indirizzo email|email do cliente|endereco email|emailadres|e mailadres|adres email|adres e mail|e postadress|epost|e post|sahkoposti",
    "mail|contact|kontakt",
  ),
  customer_name: synonyms(
    "customer name|customer|client name|buyer name|full name|billing name|recipient name|ship name|kunde|kundenname|name des kunden|kaufer|besteller|rechnungsname|empfanger|nom client|nom du client|client|acheteur|destinataire|nombre cliente|nombre del cliente|cliente|comprador|destinatario|nome cliente|nome del cliente|acquirente|nome do cliente|klant|klantnaam|naam klant|klient|imie i nazwisko|nazwa klienta|kupujacy|kund|kundnamn|kundenavn|asiakas",
    "name|nom|nombre|nome|naam|namn|navn|nazwisko|buyer|shipping name|vorname nachname|user name|nimi",
  ),
  order_date: synonyms(
    "order date|ordered at|ordered on|order time|purchase date|purchased at|date of order|created at|bestelldatum|bestellt am|auftragsdatum|kaufdatum|bestellzeit|date commande|date de commande|date de la commande|date achat|fecha pedido|fecha de pedido|fecha del pedido|fecha de compra|data ordine|data dell ordine|data acquisto|data pedido|data do pedido|data da compra|data encomenda|besteldatum|orderdatum|aankoopdatum|data zamowienia|data zakupu|ordredato|bestallningsdatum|tilauspaiva",
    "date|datum|fecha|data|dato|paiva|created|paid at|paid date|rechnungsdatum|invoice date|zeit|time",
  ),
  currency_iso: productSynonyms.currency,
  user_reference: synonyms(
    "user reference|user id|customer id|customer number|client id|account id|member id|kundennummer|kundennr|kunden id|kunden nr|numero client|id client|id cliente|numero cliente|codice cliente|codigo cliente|klantnummer|klant id|id klienta|kundnummer",
    "user|account",
  ),
  language: synonyms(
    "order language|customer language|customer locale|language code|language|locale|sprache|langue|idioma|lingua|taal|jezyk|sprak",
    "lang",
  ),
  platform: synonyms("platform|shop system|shopsystem|plattform|plateforme|plataforma|piattaforma"),
  product_id: productSynonyms.id,
  product_name: productSynonyms.name,
  product_url: productSynonyms.url,
  product_image: productSynonyms.image,
  product_description: productSynonyms.description,
  product_price: productSynonyms.price,
  product_tags: productSynonyms.tags,
  quantity: synonyms(
    "quantity|qty|lineitem quantity|menge|anzahl|stuckzahl|quantite|qte|cantidad|quantita|quantidade|aantal|ilosc|antal|antall|maara",
    "count|units|stuck",
  ),
  ...productSynonyms.specs,
};
