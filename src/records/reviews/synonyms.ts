import { synonyms, type FieldSynonyms } from "../../import/mapping/names.ts";
import { productSynonyms } from "../product-synonyms.ts";

/** The names of columns with images of a product. Other images of a review are photos by its author. */
const ofProduct =
  /^(?!.*(?:review|customer|user|author|buyer|shopper|ugc|bewert|rezension|kunde|avis|client|resena|recensi|avalia|opini)).*(?:product|produkt|produit|prodott|produto|artikel|article|articulo|articolo|item|tuote|varebilde|varebillede)/;

export const reviewSynonyms: Readonly<Record<string, FieldSynonyms>> = {
  review_title: synonyms(
    "review title|title of review|headline|titel der bewertung|bewertungstitel|titre avis|titulo resena|titolo recensione|titulo avaliacao|titel review|tytul opinii",
    "title|subject|titel|titre|titulo|titolo|tytul|rubrik",
  ),
  review_content: synonyms(
    "review content|review text|review body|review|bewertung text|bewertungstext|rezension|avis|texte avis|commentaire|resena|opinion|recensione|testo recensione|avaliacao|beoordeling|tresc opinii|opinia|recension|anmeldelse",
    "content|body|text|comment|kommentar|message|comentario|commento|tekst",
  ),
  review_score: synonyms(
    "review score|rating|score|stars|star rating|bewertung|sterne|note|etoiles|puntuacion|calificacion|estrellas|valutazione|voto|stelle|nota|estrelas|sterren|ocena|gwiazdki|betyg|karakter",
    "points|punkte|grade",
  ),
  date: synonyms(
    "date|review date|created at|reviewed at|submitted at|datum|bewertungsdatum|date avis|fecha|data|data opinii|dato",
    "created|time|updated at",
  ),
  product_id: productSynonyms.id,
  display_name: synonyms(
    "display name|reviewer|reviewer name|author|nickname|customer name|verfasser|autor|bewerter|auteur|pseudo|nom auteur|nombre autor|autore|auteur naam|nazwa uzytkownika",
    "name|user|user name|customer|kunde|client|cliente|nom|nombre|nome|naam|namn|klant|klient",
  ),
  email: synonyms(
    "email|e mail|reviewer email|user email|customer email|author email|courriel|adresse email|correo electronico|indirizzo email|emailadres|adres email|mailadresse|e postadress",
    "mail|contact",
  ),
  published: synonyms(
    "published|is published|status|state|approved|veroffentlicht|freigegeben|publie|publicado|pubblicato|opublikowano",
    "is approved|curated|moderation|visibility|visible|hidden|active|enabled|spam",
  ),
  comment_content: synonyms(
    "comment content|reply|response|store reply|merchant reply|answer|antwort|reponse|respuesta|risposta|resposta|odpowiedz|svar",
  ),
  comment_date: synonyms(
    "comment date|reply date|replied at|response date|reply created at|datum der antwort|date reponse|fecha respuesta",
  ),
  image_urls: synonyms(
    "image urls|review images|review photos|picture urls|photo urls|customer photos|bilder der bewertung",
    "images|photos|pictures|photo|picture|img|media",
  ),
  product_title: productSynonyms.name,
  product_url: productSynonyms.url,
  product_description: productSynonyms.description,
  product_image_url: { ...productSynonyms.image, requires: ofProduct },
  user_type: synonyms("user type|reviewer type|verified|verified buyer|verifiziert|verifie"),
  user_reference: synonyms(
    "user reference|user id|customer id|customer number|kundennummer|id client|id cliente|klantnummer",
  ),
};
