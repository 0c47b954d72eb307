import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { fitValues } from "../../../../src/import/mapping/proposal.ts";
import {
  answerAlone,
  findMissing,
  findUndecided,
  findUnused,
  openFields,
  toMapping,
} from "../../../../src/import/mapping/decisions.ts";
import { type DraftOptions, draftMapping } from "../../../../src/import/mapping/draft.ts";
import { findClosestName, isSameName, suggest } from "../../../../src/import/mapping/names.ts";
import { findCases } from "../../../support/planned-imports.ts";
import { kinds } from "../../../support/record-kinds.ts";
import { useTemporaryFolder } from "../../../support/temporary-folder.ts";

const folder = useTemporaryFolder();

/** Drafts a mapping and formats all that a person sees of it and that follows from it. */
async function describeDraft(kind: string, content: string | Uint8Array, options: Partial<DraftOptions> = {}) {
  writeFileSync(join(folder, "a.csv"), content);
  const never = new AbortController().signal;
  const draft = await draftMapping(
    { kind, file: "a.csv", options: { map: {}, ...options } },
    { kinds, cwd: folder, stdin: Readable.from([]), abort: never, report: () => {} },
  );
  const answers = answerAlone(draft);
  const proposals = openFields(draft, answers.takesLayout).map((one) => {
    const { field, column = "-", confidence = "", isCertain, ranked, similar } = one;
    return `${field}: ${column} ${confidence}${isCertain ? " certain" : ""} (${ranked.length}; ${similar.join(", ")})`;
  });
  const names = (title: string, found: readonly string[]) => `${title}: ${found.join(", ")}`;
  return [
    `${draft.layout?.name} ${draft.encoding} ${JSON.stringify(draft.delimiter)}`,
    ...draft.samples.map(({ name, values }) => `| ${name} | ${values.length} | ${values.slice(0, 2).join(" | ")}`),
    ...proposals,
    names(
      "undecided",
      findUndecided(draft, answers).map(({ field }) => field),
    ),
    names("missing", findMissing(draft, answers)),
    names("unused", findUnused(draft, answers)),
    JSON.stringify(toMapping(draft, answers)),
  ].join("\n");
}

describe("the draft of a mapping", () => {
  const cases = findCases(["fixtures/layouts", "fixtures/good", "fixtures/exports"]).map(
    ({ file, kind }) => [`${kind} ${basename(file)}`, kind, file] as const,
  );

  test.each(cases)("for %s", async (_name, kind, file) => {
    expect(await describeDraft(kind, readFileSync(file))).toMatchSnapshot();
  });

  const row = (header: string, ...rows: string[]) => [header, ...rows, ""].join("\n");
  const files: Readonly<Record<string, readonly [kind: string, content: string, options?: Partial<DraftOptions>]>> = {
    "German orders": [
      "orders",
      row(
        "Bestellnummer;Kunden-E-Mail;Kundenname;Bestelldatum;Artikelnummer;Artikelname;Link;Preis;Währung",
        "1;ann@shop.example;Ann Lee;2026-01-02;p1;Tasse;https://shop.example/p1;12,50;EUR",
        "2;bo@shop.example;Bo Ek;2026-01-03;p2;Kanne;https://shop.example/p2;5,00;EUR",
      ),
    ],
    "French orders with misspellings": [
      "orders",
      row(
        "N° de commande,Adresse e-mail,Nom du cliant,Date de comande,Référence,Nom du produit,URL du produit",
        "1,ann@shop.example,Ann Lee,02/01/2026,p1,Tasse,https://shop.example/p1",
      ),
    ],
    "columns that only values show": [
      "orders",
      row(
        "a,b,c,d,e,f,g,h",
        "ann@shop.example,https://shop.example/p1,2026-01-02,https://shop.example/1.jpg,12.5,4006381333931,shopify,Ann",
        "bo@shop.example,https://shop.example/p2,2026-01-03,https://shop.example/2.png?x=1,9,4006381333932,general,Bo",
        "cy@shop.example,https://shop.example/p3,2026-01-04,,9,4006381333933,general,Cy",
      ),
    ],
    "several columns for one field": [
      "orders",
      row("email,Customer email,Email address,order id,order no,id", "x,ann@shop.example,bo@shop.example,1,2,3"),
    ],
    flags: [
      "orders",
      row("no,mail,title", "1,ann@shop.example,Cup"),
      {
        map: { order_id: "no" },
        set: { "Customer Name": "Customer" },
        productUrl: "https://shop.example/{product_id}",
        delimiter: ",",
        encoding: "utf-8",
      },
    ],
    "another layout": ["orders", row("Name,Email,Lineitem name", "1,ann@shop.example,Cup"), { layout: "shopify" }],
    "reviews of another service": [
      "reviews",
      row(
        "Title,Body,Rating,Created at,Product handle,Author,Email,State,Reply,comment_content",
        "Good,Very nice,5,2026-01-02,p1,Ann,ann@shop.example,published,Thanks,",
        "Bad,Not nice,1,2026-01-03,p2,Bo,bo@shop.example,hidden,,",
      ),
    ],
    "native reviews": [
      "reviews",
      row(
        "review_title,review_content,review_score,date,product_id,display_name,email,published,comment_content",
        "Good,Very nice,5,2026-01-02,p1,Ann,ann@shop.example,true,",
        "Good,Very nice,5.0,2026-01-02,p1,Ann,ann@shop.example,no,Thanks",
      ),
    ],
    coupons: ["coupons", row("Gutscheincode,Wert", "AB-1,5", "AB-2,5")],
    unsubscribers: ["unsubscribers", row("Mail,Type,Date", "ann@shop.example,1,2026-01-02")],
    groups: ["groups", row("Category,SKU", "Garden,p1")],
    "Spanish orders": [
      "orders",
      row(
        "Número de pedido,Fecha del pedido,Cliente,Correo electrónico,Código de producto,Nombre del producto,Enlace,Imagen",
        "P1,02/01/2026,Ana Ruiz,a@example.es,c1,Gorro,https://l.example/c1,https://l.example/c1.png",
      ),
    ],
    "Polish orders": [
      "orders",
      row(
        "Numer zamówienia|Data zamówienia|Imię i nazwisko|Adres e-mail|Kod produktu|Nazwa produktu|Cena",
        "1|2026-01-02|Jan Nowak|j@example.pl|k1|Czapka|10,00",
      ),
    ],
    "orders with a delivery note and yes or no": [
      "orders",
      row(
        "Número de orden;Correo;Fecha;Moneda;Nombre del comprador;Nombre del producto;Precio del producto;SKU;Notas del comprador;Producto Físico",
        "1;a@example.com;2026-01-02;ARS;Ann Lee;Tetera;100.00;T-1;dejar en portería, timbre roto;Si",
        "2;b@example.com;2026-01-03;ARS;Bo Diaz;Taza;50.00;T-2;es un regalo;No",
      ),
    ],
    "orders with two addresses": [
      "orders",
      row(
        "order_id,order_date,customer_name,product_id,product_name,product_url,Billing Email,Recipient Email",
        "1,2026-01-02,Ann,p,Cap,https://s.example/p,a@example.com,gift@example.com",
      ),
    ],
    "orders with two telephone numbers": [
      "orders",
      row(
        "order_id,order_date,customer_name,product_id,product_name,product_url,Billing Phone,Recipient Phone",
        "1,2026-01-02,Ann,p,Cap,https://s.example/p,555-1,555-2",
      ),
    ],
    "orders without headings": ["orders", row("Type,Number,Person", "sale,7,Ana Ruiz")],
    "products in German": [
      "products",
      row(
        "Handle,Titel,Beschreibung,Marke,EAN,Link,Bild",
        "hut,Hut,Ein Hut,ACME,4006381333931,https://l.example/hut,https://l.example/hut.png",
      ),
    ],
    "reviews in German": [
      "reviews",
      row(
        "Artikelnummer,Bewertung,Titel,Rezension,Verfasser,E-Mail,Datum",
        "hut,5,Schön,Ein schöner Hut,Eva G.,eva@example.com,2026-01-02",
      ),
    ],
    "reviews with spam": [
      "reviews",
      row(
        "title,body,rating,review_date,curated,reviewer,reviewer_email,product_id,reply",
        "Top,Very good quality,5,2025-03-02 10:12:00 UTC,ok,Ann,a@example.com,1,Thanks",
        "Spam,Buy cheap watches,5,2025-01-10 11:00:00 UTC,spam,Bot,b@example.com,1,",
      ),
    ],
    "reviews called comments": [
      "reviews",
      row(
        "comment_ID,comment_author,comment_author_email,comment_date,comment_content,comment_approved,rating,title,product_SKU",
        "5,Ann,a@example.com,2026-08-01 10:00:00,Soaks in fast,1,5,Great,G-1",
      ),
    ],
    "reviews with an empty column of a field's name": [
      "reviews",
      row(
        "product_id,author,email,state,rating,Review Title,review,created_at,published",
        "1,Ann,a@example.com,unpublished,5,Great,Soaks in fast,2026-08-01 10:00:00,",
      ),
    ],
    "Polish addresses": ["unsubscribers", row("Name,Adres e-mail", "Jan,jan@example.pl")],
    "products with several URLs": [
      "products",
      row(
        "Handle,Titel,Bild,Produkt-URL,Preis,EAN,Marke,Gesperrt",
        "p1,Tasse,https://shop.example/1.webp|https://shop.example/2.webp,https://shop.example/p1,5 €,4006381333931,Acme,nein",
      ),
    ],
  };

  test.each(Object.entries(files))("for %s", async (_name, [kind, content, options]) => {
    expect(await describeDraft(kind, content, options)).toMatchSnapshot();
  });
});

test("values look like the fields that they may be of", () => {
  const values =
    "1|12|123456789|4006381333931|1.5|12,50 €|5.0|6|-3|EUR|eur|a|ab|Ann Lee|Ann 1234|p-1|a b c|ann@shop.example|ann@shop|a@b.c, d@e.f|https://shop.example/p|https://shop.example/p.jpg|https://shop.example/p.JPEG?x|https://a.example/1.png|https://b.example/2.png|shop.example|2026-01-02|02.01.2026|1/2/26|14/08/2026 10:00|Aug 14, 2026|2026-13-02|true|No|y|perhaps|shopify|mars|99999|0|18".split(
      "|",
    );
  const fields = kinds.all.flatMap((kind) => kind.fields.map(({ name }) => name));
  const lines = [...new Set(fields)].toSorted().map((field) => {
    const fits = values.filter((value) => fitValues(field, [value])?.fit === 1);
    return `${field} ${fitValues(field, ["x"])?.alone}: ${fits.join(" | ")}`;
  });
  expect(lines.join("\n")).toMatchSnapshot();
  expect(fitValues("email", [])).toBeUndefined();
  expect(fitValues("email", ["a@b.example", "x", "y", "z"])).toEqual({ fit: 0.25, alone: 0.75 });
});

test("names are compared without regard to case and separators, and the closest one is suggested", () => {
  expect(isSameName("Order ID", "order__i-d")).toBe(true);
  expect(isSameName("orderid", "orderids")).toBe(false);
  const names = ["order_id", "email", "customer_name"];
  expect(findClosestName("mail", names)).toBe("email");
  expect(findClosestName("costumer", names)).toBe("customer_name");
  expect(findClosestName("Order-IDs", names)).toBe("order_id");
  expect(findClosestName("xyz", names)).toBeUndefined();
  expect(findClosestName("x", [])).toBeUndefined();
  expect(findClosestName("abcd", ["abxy"])).toBe("abxy");
  expect(findClosestName("abcd", ["axyz"])).toBeUndefined();
  expect(suggest("mail", names)).toContain("'email'");
  expect(suggest("xyz", names)).toContain(names.join(", "));
});
