import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { aReview } from "./builders.ts";
import { takePhoto } from "./photos.ts";
import { openShop, type Shop, type ShopOptions } from "./shop.ts";

/** A page of the shop. */
export interface ShopPage {
  readonly body: string;
  readonly head?: string;
  /** The language of the page (default: en). */
  readonly lang?: string;
  /** Attributes of the script that loads the elements. */
  readonly script?: string;
}

interface StorefrontOptions extends ShopOptions {
  /** Whether the shop has no reviews (default: false). */
  readonly isEmpty?: boolean;
}

export interface Storefront extends Shop {
  /** Serves a page of the shop with the elements, and a strict policy. @returns its URL, which has another origin than the service */
  readonly showPage: (page: ShopPage | string) => string;
  /** Serves a style sheet. @returns the link for the head of a page */
  readonly addStyle: (css: string) => string;
}

const style = `
:root { background: light-dark(#fff, #1b1d22); color: light-dark(#1b1b1f, #ececf1); color-scheme: light dark; font: 16px/1.5 sans-serif; }
body { margin: 0 auto; max-width: 70rem; padding: 1rem; }
img { max-width: 100%; }
`;

/** Opens a shop with a page server beside the service. The product `pot` has 45 reviews, of which 4 have photos; `new` has none. */
export async function openStorefront({ isEmpty = false, ...options }: StorefrontOptions = {}): Promise<Storefront> {
  const shop = await openShop(options);
  if (!isEmpty) await addReviews(shop);
  const files = new Map([["/style.css", style]]);
  const policy = `default-src 'none'; script-src ${shop.url}; connect-src ${shop.url}; img-src ${shop.url}; style-src 'self'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'`;
  const server = createServer(({ url = "" }, response) => {
    const text = files.get(url);
    if (text === undefined) return void response.writeHead(404).end();
    response.setHeader("content-security-policy", policy);
    response.setHeader("content-type", url.endsWith(".css") ? "text/css" : "text/html; charset=utf-8");
    return void response.end(text);
  });
  const origin = await listen(server);
  return {
    ...shop,
    showPage: (page) => {
      const path = `/${files.size}`;
      files.set(path, writePage(shop, typeof page === "string" ? { body: page } : page));
      return origin + path;
    },
    addStyle: (css) => {
      const path = `/${files.size}.css`;
      files.set(path, css);
      return `<link rel="stylesheet" href="${path}">`;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await shop.close();
    },
  };
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function writePage({ url, appKey }: Shop, { body, head = "", lang = "en", script = "" }: ShopPage): string {
  return `<!DOCTYPE html>
<html lang="${lang}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Teapot</title><link rel="stylesheet" href="/style.css">${head}
<script type="module" src="${url}/starpost/v1/elements.js?app_key=${appKey}" ${script}></script></head>
<body><main><h1>Teapot</h1>${body}</main></body></html>`;
}

/** Texts of reviews, which tests search for. */
const contents = [
  "It pours very well.",
  "The lid is loose,\nbut the spout is fine.",
  "A gift for my aunt, who likes it.",
];

async function addReviews({ service }: Shop): Promise<void> {
  const addReview = async (at: number) => {
    const { reviews } = await service.reviews.createNow({
      ...aReview({ sku: "pot", product_title: "A teapot", display_name: `Ann ${at}`, email: `ann${at}@mail.example` }),
      review_score: [5, 5, 4, 5, 3, 2, 5, 4, 1][at % 9] ?? 5,
      review_title: `Title ${at}`,
      review_content: contents[at % contents.length] ?? "",
      past: {
        created_at: new Date(Date.UTC(2026, 0, 1 + at)).toISOString(),
        reviewer_type: at % 3 === 0 ? "verified_buyer" : "verified_reviewer",
      },
    });
    const review_id = reviews[0]?.id ?? 0;
    if (at % 10 === 4) await service.reviews.comment({ review_id, content: "Thank you!\nWe are glad." });
  };
  await Promise.all(Array.from({ length: 45 }, (_, at) => addReview(at)));
  for (let at = 0; at < 4; at += 1) {
    const { image_upload_token } = await service.reviews.create(
      aReview({ sku: "pot", product_title: "A teapot", display_name: `Photo ${at}`, email: `photo${at}@mail.example` }),
    );
    const photo = await takePhoto({ width: 300 + 100 * at, height: 300 });
    await service.images.upload({ image_upload_token, image: photo.toString("base64") });
  }
}

/** Adds confirmed questions, each with an answer of the store and one of a shopper. @returns the IDs of the last ones */
export async function addQuestions(
  { service, confirmAddress }: Shop,
  { sku, count, text }: { readonly sku: string; readonly count: number; readonly text?: string },
) {
  const ids = { question: 0, answer: 0 };
  for (let at = 0; at < count; at += 1) {
    const question = text ?? `Question ${at}: does it pour well?`;
    const address = await confirmAddress({ product: text, customer: text ?? `Ann ${at}`, question, sku });
    await service.links.follow({ token: address.split("/").at(-1) ?? "" });
    const { questions: asked } = await service.questions.list({ sku, count: 1 });
    const question_id = asked[0]?.id ?? 0;
    const { answer } = await service.answers.create({ question_id, content: text ?? "Yes.\nIt does." });
    await service.answers.create({
      question_id,
      content: text ?? "Mine, too.",
      display_name: text ?? "Bob",
      email: "bob@mail.example",
    });
    Object.assign(ids, { question: question_id, answer: answer.id });
  }
  return ids;
}
