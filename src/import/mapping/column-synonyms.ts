/** What columns are called that hold a field: plainly, and with words that may as well mean something else. */
interface FieldWords {
  readonly plain: readonly string[];
  readonly vague: readonly string[];
}

function words(plain: string, vague = ""): FieldWords {
  const split = (list: string) => list.split("|").filter((word) => word !== "");
  return { plain: split(plain), vague: split(vague) };
}

const productId = words(
  "product id|product code|product number|product ref|product sku|product handle|item id|item code|item number|item sku|lineitem sku|article number|variant id|variation id|artikelnummer|artikelnr|art nr|produktnummer|produktnr|produkt id|warennummer|reference produit|ref produit|code produit|code article|reference article|id produit|id producto|codigo producto|codigo articulo|referencia producto|codice prodotto|codice articolo|id prodotto|id produto|codigo produto|ref produto|productnummer|artikelcode|kod produktu|id produktu|indeks produktu|varenummer|tuotenumero|vyrobni cislo",
  "id|sku|code|handle|product|item|article|artikel|produkt|reference|referencia|referencja|symbol|indeks|asin",
);
const productName = words(
  "product name|product title|product description short|item name|item title|item description|lineitem name|article name|artikelname|artikelbezeichnung|artikelbeschreibung kurz|produktname|produkttitel|produktbezeichnung|nom produit|nom article|designation|libelle|libelle produit|nombre producto|nombre articulo|nome prodotto|nome articolo|nome produto|productnaam|artikelnaam|nazwa produktu|nazwa towaru|produktnavn|varenavn|tuotenimi",
  "product|item|article|title|name|artikel|bezeichnung|titel|produkt|produit|producto|articulo|titulo|prodotto|articolo|titolo|produto|nazwa|nom|nombre|nome|naam|namn",
);
const url = words(
  "product url|product link|product page|item url|item link|produktlink|produkt url|artikel url|artikellink|produktseite|lien produit|url produit|page produit|enlace producto|url producto|link prodotto|url prodotto|link produto|url produto|productlink|adres url|link do produktu",
  "url|link|permalink|web address|webadresse|lien|enlace|adres|odnosnik|collegamento|lank",
);
const image = words(
  "image url|image link|image src|product image|picture url|photo url|featured image|bild url|produktbild|artikelbild|bildlink|image produit|lien image|photo produit|url imagen|imagen producto|url immagine|immagine prodotto|url imagem|imagem produto|afbeelding url|productafbeelding|zdjecie produktu|url zdjecia",
  "image|images|picture|photo|thumbnail|bild|bilder|foto|visuel|imagen|immagine|imagem|afbeelding|zdjecie|zdjecia|bilde|billede|kuva",
);
const description = words(
  "description|product description|long description|body html|beschreibung|produktbeschreibung|artikelbeschreibung|langtext|description produit|descriptif|descripcion|descripcion producto|descrizione|descrizione prodotto|descricao|descricao produto|omschrijving|productomschrijving|beschrijving|opis|opis produktu|beskrivning|beskrivelse|kuvaus",
  "details|body|text|short description|kurzbeschreibung|summary",
);
const price = words(
  "price|unit price|item price|lineitem price|product price|sale price|selling price|variant price|preis|einzelpreis|stuckpreis|verkaufspreis|bruttopreis|vk preis|prix|prix unitaire|prix ttc|prix de vente|precio|precio unitario|precio venta|pvp|prezzo|prezzo unitario|prezzo vendita|preco|preco unitario|prijs|stukprijs|verkoopprijs|cena|cena jednostkowa|cena brutto|pris|styckpris|stykpris|hinta",
  "amount|betrag|montant|importe|importo|valor|bedrag|kwota|cost|regular price|uvp|msrp",
);
const tags = words(
  "product tags|tags|labels|keywords|schlagworter|schlagworte|stichworter|etiquettes|mots cles|etiquetas|palabras clave|parole chiave|palavras chave|trefwoorden|tagi|etykiety|slowa kluczowe|taggar",
  "categories|category|kategorie|kategorien|categorie|categoria|rubrik",
);
const specs = {
  upc: words(
    "upc|ean|gtin|ean13|ean code|gtin13|barcode|upc ean|global unique id|variant barcode|strichcode|code barres|code barre|codigo barras|codice a barre|streepjescode|kod kreskowy|kod ean|streckkod|stregkode|viivakoodi",
  ),
  mpn: words(
    "mpn|manufacturer part number|manufacturer number|herstellernummer|herstellerartikelnummer|hersteller nr|reference fabricant|ref fabricant|referencia fabricante|codice produttore|kod producenta|part number",
  ),
  brand: words(
    "brand|brand name|vendor|marke|markenname|hersteller|herstellername|marque|fabricant|marca|fabricante|produttore|merk|merknaam|marka|producent|varemarke|varumarke|maerke|merkki",
    "manufacturer|supplier|lieferant|maker",
  ),
  isbn: words("isbn|isbn13|isbn 10"),
  sku: words("sku|variant sku|stock keeping unit|lagernummer|bestandseinheit|skladove cislo", "item code"),
  external_sku: words("external sku|vendor sku|supplier sku|external id"),
};
const currency = words(
  "currency|currency code|currency iso|order currency|wahrung|waehrung|wahrungscode|devise|monnaie|moneda|divisa|valuta|moeda|waluta|valuutta|mena",
);

/** By kind and field. Accents and case do not count, nor does what stands between words. */
export const columnWords: Readonly<Record<string, Readonly<Record<string, FieldWords>>>> = {
  products: {
    product_id: productId,
    name: productName,
    url,
    image_url: image,
    description,
    currency_iso: currency,
    price,
    product_tags: tags,
    blacklisted: words("blacklisted|blacklist|no mails|mails stopped|gesperrt|ausgeschlossen"),
    ...specs,
  },
  orders: {
    order_id: words(
      "order id|order number|order no|order nr|order ref|order reference|order name|purchase id|transaction id|bestellnummer|bestellnr|bestell nr|bestell id|auftragsnummer|auftragsnr|auftrags nr|belegnummer|rechnungsnummer|numero commande|no commande|n commande|id commande|reference commande|ref commande|numero pedido|n pedido|no pedido|id pedido|codigo pedido|referencia pedido|numero ordine|n ordine|id ordine|codice ordine|numero do pedido|numero encomenda|id encomenda|bestelnummer|ordernummer|bestelling id|numer zamowienia|nr zamowienia|id zamowienia|ordrenummer|ordrenr|tilausnumero|cislo objednavky",
      "order|orders|reference|invoice|invoice number|bestellung|auftrag|commande|pedido|ordine|encomenda|bestelling|zamowienie|ordre|id|number|nummer|numero",
    ),
    email: words(
      "email|e mail|email address|customer email|buyer email|contact email|billing email|recipient email|kunden email|kundenemail|email adresse|mailadresse|kaufer email|rechnung email|courriel|adresse email|adresse mail|adresse electronique|mail client|email client|correo|correo electronico|email cliente|correo cliente|posta elettronica|indirizzo email|email do cliente|endereco email|emailadres|e mailadres|adres email|adres e mail|e postadress|epost|e post|sahkoposti",
      "mail|contact|kontakt",
    ),
    customer_name: words(
      "customer name|customer|client name|buyer name|full name|billing name|recipient name|ship name|kunde|kundenname|name des kunden|kaufer|besteller|rechnungsname|empfanger|nom client|nom du client|client|acheteur|destinataire|nombre cliente|nombre del cliente|cliente|comprador|destinatario|nome cliente|nome del cliente|acquirente|nome do cliente|klant|klantnaam|naam klant|klient|imie i nazwisko|nazwa klienta|kupujacy|kund|kundnamn|kundenavn|asiakas",
      "name|nom|nombre|nome|naam|namn|navn|nazwisko|buyer|shipping name|vorname nachname|user name|nimi",
    ),
    order_date: words(
      "order date|ordered at|ordered on|order time|purchase date|purchased at|date of order|created at|bestelldatum|bestellt am|auftragsdatum|kaufdatum|bestellzeit|date commande|date de commande|date de la commande|date achat|fecha pedido|fecha de pedido|fecha del pedido|fecha de compra|data ordine|data dell ordine|data acquisto|data pedido|data do pedido|data da compra|data encomenda|besteldatum|orderdatum|aankoopdatum|data zamowienia|data zakupu|ordredato|bestallningsdatum|tilauspaiva",
      "date|datum|fecha|data|dato|paiva|created|paid at|paid date|rechnungsdatum|invoice date|zeit|time",
    ),
    currency_iso: currency,
    user_reference: words(
      "user reference|user id|customer id|customer number|client id|account id|member id|kundennummer|kundennr|kunden id|kunden nr|numero client|id client|id cliente|numero cliente|codice cliente|codigo cliente|klantnummer|klant id|id klienta|kundnummer",
      "user|account",
    ),
    platform: words("platform|shop system|shopsystem|plattform|plateforme|plataforma|piattaforma"),
    product_id: productId,
    product_name: productName,
    product_url: url,
    product_image: image,
    product_description: description,
    product_price: price,
    product_tags: tags,
    quantity: words(
      "quantity|qty|lineitem quantity|menge|anzahl|stuckzahl|quantite|qte|cantidad|quantita|quantidade|aantal|ilosc|antal|antall|maara",
      "count|units|stuck",
    ),
    ...specs,
  },
  coupons: {
    code: words(
      "code|coupon|coupon code|voucher|voucher code|discount code|promo code|promotion code|gutschein|gutscheincode|gutscheinnummer|rabattcode|code promo|code promotionnel|code de reduction|bon de reduction|cupon|codigo cupon|codigo descuento|codigo promocional|codice sconto|codice promozionale|buono|cupom|codigo desconto|kortingscode|kortingsbon|kod rabatowy|kupon|rabattkod|rabatkode|alennuskoodi",
      "codes|codigo|codice|kod|discount",
    ),
  },
  unsubscribers: {
    email: words(
      "email|e mail|email address|user email|customer email|subscriber|subscriber email|courriel|adresse email|adresse mail|correo|correo electronico|indirizzo email|endereco email|emailadres|e mailadres|adres email|mailadresse|e postadress|epost|email adresse|sahkoposti",
      "mail|address|adresse|contact",
    ),
    email_type_id: words("email type id|email type|mail type|type id|mailart|type email", "type|typ|tipo"),
  },
  reviews: {
    review_title: words(
      "review title|title of review|headline|titel der bewertung|bewertungstitel|titre avis|titulo resena|titolo recensione|titulo avaliacao|titel review|tytul opinii",
      "title|subject|titel|titre|titulo|titolo|tytul|rubrik",
    ),
    review_content: words(
      "review content|review text|review body|review|bewertung text|bewertungstext|rezension|avis|texte avis|commentaire|resena|opinion|recensione|testo recensione|avaliacao|beoordeling|tresc opinii|opinia|recension|anmeldelse",
      "content|body|text|comment|kommentar|message|comentario|commento|tekst",
    ),
    review_score: words(
      "review score|rating|score|stars|star rating|bewertung|sterne|note|etoiles|puntuacion|calificacion|estrellas|valutazione|voto|stelle|nota|estrelas|sterren|ocena|gwiazdki|betyg|karakter",
      "points|punkte|grade",
    ),
    date: words(
      "date|review date|created at|reviewed at|submitted at|datum|bewertungsdatum|date avis|fecha|data|data opinii|dato",
      "created|time|updated at",
    ),
    product_id: productId,
    display_name: words(
      "display name|reviewer|reviewer name|author|nickname|customer name|verfasser|autor|bewerter|auteur|pseudo|nom auteur|nombre autor|autore|auteur naam|nazwa uzytkownika",
      "name|user|user name|customer|kunde|client|cliente|nom|nombre|nome|naam|namn|klant|klient",
    ),
    email: words(
      "email|e mail|reviewer email|user email|customer email|author email|courriel|adresse email|correo electronico|indirizzo email|emailadres|adres email|mailadresse|e postadress",
      "mail|contact",
    ),
    published: words(
      "published|is published|status|state|approved|veroffentlicht|freigegeben|publie|publicado|pubblicato|opublikowano",
    ),
    comment_content: words(
      "comment content|reply|response|store reply|merchant reply|answer|antwort|reponse|respuesta|risposta|resposta|odpowiedz|svar",
    ),
    product_title: productName,
    product_url: url,
    product_description: description,
    product_image_url: image,
    user_type: words("user type|reviewer type|verified|verified buyer|verifiziert|verifie"),
    user_reference: words(
      "user reference|user id|customer id|customer number|kundennummer|id client|id cliente|klantnummer",
    ),
  },
};
