import type { SentEmailCategory } from "../contract/emails/categories.ts";
import { type Html, markup, render, trusted } from "../pages/markup.ts";
import {
  type ProductId,
  productIds,
  products,
  shopLanguages,
  shopName,
  type ShopLanguage,
  type ShopTexts,
} from "./products.ts";

/** What pages of the sample shop need. */
export interface PageSettings {
  readonly language: ShopLanguage;
  readonly texts: Readonly<Record<ShopLanguage, ShopTexts>>;
  /** The address of the script with the elements. */
  readonly scriptUrl: string;
  /** The address of the shop. */
  readonly shopUrl: string;
}

/** HTML of elements from the service, by element and product, which is shown until the elements replace it. */
export type Fragments = (element: string, product?: ProductId) => Html;

/** An email, as `/emails` shows it. */
export interface ShownEmail {
  readonly category: SentEmailCategory;
  readonly subject: string;
}

const logo = trusted(
  `<svg viewBox="0 0 32 32" aria-hidden="true"><circle cx="16" cy="16" r="15" fill="none" stroke="currentColor" stroke-width="1.6"/><path d="M9 21c0-6 3-10 7-13 4 3 7 7 7 13M16 8v16M11 24h10" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round"/></svg>`,
);

export const addressOf = (language: ShopLanguage, path: string) => (language === "en" ? path : `/${language}${path}`);

interface PageParts {
  readonly title: string;
  /** Without the language. */
  readonly path: string;
  readonly head?: Html;
  readonly body: Html;
}

function renderPage({ language, texts, scriptUrl }: PageSettings, { title, path, head, body }: PageParts): string {
  const own = texts[language];
  const to = (target: string) => addressOf(language, target);
  const entries = [
    [to("/"), own.home, path === "/"],
    [to("/products"), own.products, path.startsWith("/products")],
    [to("/emails"), own.emails, path.startsWith("/emails")],
  ] as const;
  return render(markup`<!DOCTYPE html>
<html lang="${language}" dir="${language === "ar" ? "rtl" : "ltr"}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title === "" ? shopName : `${title} – ${shopName}`}</title>
<link rel="stylesheet" href="/style.css">
<link rel="icon" href="/images/teapot.webp" type="image/webp">
<script type="module" src="${scriptUrl}"></script>
${head}</head>
<body>
<a class="skip" href="#main">${own.skip}</a>
<p class="note">${own.sample}</p>
<header><div class="wrap">
<a class="logo" href="${to("/")}">${logo}${shopName}</a>
<nav>${entries.map(([href, text, isCurrent]) => markup`<a href="${href}"${isCurrent ? trusted(' aria-current="page"') : ""}>${text}</a>`)}</nav>
<nav class="languages" aria-label="${own.language}">${shopLanguages.map(
    (other) =>
      markup`<a href="${addressOf(other, path)}" lang="${other}" hreflang="${other}"${other === language ? trusted(' aria-current="true"') : ""}>${texts[other].name}</a>`,
  )}</nav>
</div></header>
<main id="main">${body}</main>
<footer><div class="wrap"><span>${shopName}</span><a href="${to("/emails")}">${own.emails}</a></div></footer>
</body>
</html>
`);
}

function formatPrice(language: ShopLanguage, id: ProductId): string {
  const format = new Intl.NumberFormat(language, { style: "currency", currency: "EUR", maximumFractionDigits: 0 });
  return format.format(products[id].price);
}

function renderCards({ language, texts }: PageSettings, ids: readonly ProductId[], fragment: Fragments): Html {
  const cards = ids.map((id) => {
    const address = addressOf(language, `/products/${id}`);
    return markup`<li class="card"><img src="/images/${id}.webp" alt="" width="800" height="800">
<div><h3><a href="${address}">${texts[language].items[id].name}</a></h3>
<starpost-rating product="${id}" href="${address}#reviews">${fragment("rating", id)}</starpost-rating>
<p class="price">${formatPrice(language, id)}</p></div></li>`;
  });
  return markup`<ul class="grid">${cards}</ul>`;
}

export function renderHome(settings: PageSettings, fragment: Fragments): string {
  const own = settings.texts[settings.language];
  const body = markup`<div class="wrap hero"><div><h1>${own.tagline}</h1><p>${own.intro}</p>
<a class="button" href="${addressOf(settings.language, "/products")}">${own.shop_now}</a>
<starpost-badge>${fragment("badge")}</starpost-badge></div>
<img src="/images/home.webp" alt="" width="1200" height="800"></div>
<section class="wrap"><h2>${own.favorites}</h2>${renderCards(settings, ["teapot", "mug", "stool", "blanket"], fragment)}</section>
<section class="wrap"><h2>${own.voices}</h2><starpost-carousel>${fragment("carousel")}</starpost-carousel></section>`;
  return renderPage(settings, { title: "", path: "/", body });
}

export function renderCollection(settings: PageSettings, fragment: Fragments): string {
  const own = settings.texts[settings.language];
  const body = markup`<section class="wrap"><h1>${own.products}</h1></section>
<section class="wrap">${renderCards(settings, productIds, fragment)}</section>`;
  return renderPage(settings, { title: own.products, path: "/products", body });
}

export function renderProduct(settings: PageSettings, id: ProductId, fragment: Fragments): string {
  const { language, texts, shopUrl } = settings;
  const own = texts[language];
  const { name, text } = own.items[id];
  const address = `${shopUrl}/products/${id}`;
  const image = `${shopUrl}/images/${id}.webp`;
  const price = products[id].price;
  const data = {
    "@context": "https://schema.org",
    "@type": "Product",
    "@id": `${address}#product`,
    name,
    description: text,
    image,
    offers: { "@type": "Offer", price, priceCurrency: "EUR", availability: "https://schema.org/InStock" },
  };
  const json = JSON.stringify(data).replaceAll("<", String.raw`\u003c`);
  const body = markup`<div class="wrap"><a class="back" href="${addressOf(language, "/products")}">${own.back}</a>
<div class="product"><img src="/images/${id}.webp" alt="" width="800" height="800"><div><h1>${name}</h1>
<starpost-rating product="${id}" href="#reviews">${fragment("rating", id)}</starpost-rating>
<p class="price">${formatPrice(language, id)}</p><p class="text">${text}</p>
<button class="button" type="button" disabled aria-describedby="note">${own.cart}</button><p class="small" id="note">${own.cart_note}</p></div></div>
<div class="about"><starpost-reviews id="reviews" product="${id}" per-page="10" json-ld>${fragment("reviews", id)}</starpost-reviews>
<starpost-review-form product="${id}" product-name="${name}" product-url="${address}" product-image="${image}">${fragment("review-form", id)}</starpost-review-form>
<starpost-photos product="${id}">${fragment("photos", id)}</starpost-photos>
<starpost-questions product="${id}">${fragment("questions", id)}</starpost-questions></div></div>`;
  const head = markup`<script type="application/ld+json">${trusted(json)}</script>\n`;
  return renderPage(settings, { title: name, path: `/products/${id}`, head, body });
}

export function renderEmails(settings: PageSettings, emails: readonly ShownEmail[], shown: ShownEmail): string {
  const { language, texts } = settings;
  const own = texts[language];
  const links = emails.map(
    ({ category, subject }) =>
      markup`<li><a href="${addressOf(language, `/emails/${category}`)}"${category === shown.category ? trusted(' aria-current="page"') : ""}><span lang="en" dir="ltr">${subject}</span><code>${category}</code></a></li>`,
  );
  const body = markup`<section class="wrap"><h1>${own.emails}</h1><p>${own.emails_intro}</p></section>
<div class="wrap emails"><ol>${links}</ol><div><h2 lang="en" dir="ltr">${shown.subject}</h2>
<iframe title="${shown.subject}" src="/emails/${shown.category}.html" sandbox=""></iframe></div></div>`;
  return renderPage(settings, { title: own.emails, path: `/emails/${shown.category}`, body });
}
