import { synonyms } from "../import/mapping/names.ts";

/** Column names of product fields, for every kind whose rows name products. */
export const productSynonyms = {
  id: synonyms(
    "product id|product code|product number|product ref|product sku|product handle|item id|item code|item number|item sku|lineitem sku|article number|variant id|variation id|artikelnummer|artikelnr|art nr|produktnummer|produktnr|produkt id|warennummer|reference produit|ref produit|code produit|code article|reference article|id produit|id producto|codigo producto|codigo articulo|referencia producto|codice prodotto|codice articolo|id prodotto|id produto|codigo produto|ref produto|productnummer|artikelcode|kod produktu|id produktu|indeks produktu|varenummer|tuotenumero|vyrobni cislo",
    "id|sku|code|handle|product|item|article|artikel|produkt|reference|referencia|referencja|symbol|indeks|asin",
  ),
  name: synonyms(
    "product name|product title|product description short|item name|item title|item description|lineitem name|article name|artikelname|artikelbezeichnung|artikelbeschreibung kurz|produktname|produkttitel|produktbezeichnung|nom produit|nom article|designation|libelle|libelle produit|nombre producto|nombre articulo|nome prodotto|nome articolo|nome produto|productnaam|artikelnaam|nazwa produktu|nazwa towaru|produktnavn|varenavn|tuotenimi",
    "product|item|article|title|name|artikel|bezeichnung|titel|produkt|produit|producto|articulo|titulo|prodotto|articolo|titolo|produto|nazwa|nom|nombre|nome|naam|namn",
  ),
  url: synonyms(
    "product url|product link|product page|item url|item link|produktlink|produkt url|artikel url|artikellink|produktseite|lien produit|url produit|page produit|enlace producto|url producto|link prodotto|url prodotto|link produto|url produto|productlink|adres url|link do produktu",
    "url|link|permalink|web address|webadresse|lien|enlace|adres|odnosnik|collegamento|lank",
  ),
  image: synonyms(
    "image url|image link|image src|product image|picture url|photo url|featured image|bild url|produktbild|artikelbild|bildlink|image produit|lien image|photo produit|url imagen|imagen producto|url immagine|immagine prodotto|url imagem|imagem produto|afbeelding url|productafbeelding|zdjecie produktu|url zdjecia",
    "image|images|picture|photo|thumbnail|bild|bilder|foto|visuel|imagen|immagine|imagem|afbeelding|zdjecie|zdjecia|bilde|billede|kuva",
  ),
  description: synonyms(
    "description|product description|long description|body html|beschreibung|produktbeschreibung|artikelbeschreibung|langtext|description produit|descriptif|descripcion|descripcion producto|descrizione|descrizione prodotto|descricao|descricao produto|omschrijving|productomschrijving|beschrijving|opis|opis produktu|beskrivning|beskrivelse|kuvaus",
    "details|body|text|short description|kurzbeschreibung|summary",
  ),
  price: synonyms(
    "price|unit price|item price|lineitem price|product price|sale price|selling price|variant price|preis|einzelpreis|stuckpreis|verkaufspreis|bruttopreis|vk preis|prix|prix unitaire|prix ttc|prix de vente|precio|precio unitario|precio venta|pvp|prezzo|prezzo unitario|prezzo vendita|preco|preco unitario|prijs|stukprijs|verkoopprijs|cena|cena jednostkowa|cena brutto|pris|styckpris|stykpris|hinta",
    "amount|betrag|montant|importe|importo|valor|bedrag|kwota|cost|regular price|uvp|msrp",
  ),
  tags: synonyms(
    "product tags|tags|labels|keywords|schlagworter|schlagworte|stichworter|etiquettes|mots cles|etiquetas|palabras clave|parole chiave|palavras chave|trefwoorden|tagi|etykiety|slowa kluczowe|taggar",
    "categories|category|kategorie|kategorien|categorie|categoria|rubrik",
  ),
  currency: synonyms(
    "currency|currency code|currency iso|order currency|wahrung|waehrung|wahrungscode|devise|monnaie|moneda|divisa|valuta|moeda|waluta|valuutta|mena",
  ),
  /** By the fields' own names. */
  specs: {
    upc: synonyms(
      "upc|ean|gtin|ean13|ean code|gtin13|barcode|upc ean|global unique id|variant barcode|strichcode|code barres|code barre|codigo barras|codice a barre|streepjescode|kod kreskowy|kod ean|streckkod|stregkode|viivakoodi",
    ),
    mpn: synonyms(
      "mpn|manufacturer part number|manufacturer number|herstellernummer|herstellerartikelnummer|hersteller nr|reference fabricant|ref fabricant|referencia fabricante|codice produttore|kod producenta|part number",
    ),
    brand: synonyms(
      "brand|brand name|vendor|marke|markenname|hersteller|herstellername|marque|fabricant|marca|fabricante|produttore|merk|merknaam|marka|producent|varemarke|varumarke|maerke|merkki",
      "manufacturer|supplier|lieferant|maker",
    ),
    isbn: synonyms("isbn|isbn13|isbn 10"),
    sku: synonyms("sku|variant sku|stock keeping unit|lagernummer|bestandseinheit|skladove cislo", "item code"),
    external_sku: synonyms("external sku|vendor sku|supplier sku|external id"),
  },
};
