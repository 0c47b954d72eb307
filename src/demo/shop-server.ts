import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Writable } from "node:stream";
import { sentEmailCategories } from "../contract/emails/categories.ts";
import { type Html, trusted } from "../pages/markup.ts";
import type { Service } from "../service/service.ts";
import { readAsset } from "./assets.ts";
import { productIds, readShopTexts, shopLanguages, type ProductId } from "./products.ts";
import {
  type Fragments,
  type PageSettings,
  renderCollection,
  renderEmails,
  renderHome,
  renderProduct,
  type ShownEmail,
} from "./shop-pages.ts";

/** The service whose elements the shop shows. */
interface ShopService {
  readonly url: string;
  readonly appKey: string;
  readonly service: Service;
}

/** The web server of the sample shop. */
export interface ShopServer {
  readonly url: string;
  /** Answers requests from now on; until then, they wait. */
  readonly open: (service: ShopService) => void;
  readonly close: () => Promise<void>;
}

/**
 * Listens on loopback.
 * @param port 0 selects a free port
 * @param log the destination of errors
 */
export async function listenAsShop(port: number, log: Writable): Promise<ShopServer> {
  let open: (service: ShopService) => void = () => {};
  const opened = new Promise<ShopService>((resolve) => (open = resolve));
  let emails: ReturnType<typeof readEmails> | undefined;
  const server = createServer((request, response) => {
    void (async () => {
      const shopService = await opened;
      const settings = { ...shopService, shopUrl: url, emails: () => (emails ??= readEmails(shopService, url)) };
      await answer(request.url ?? "/", response, settings);
    })().catch((error: unknown) => {
      log.write(`${String(error)}\n`);
      send(response, 500, "text/plain", "");
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, open, close: () => closeServer(server) };
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

interface Settings extends ShopService {
  readonly shopUrl: string;
  readonly emails: () => ReturnType<typeof readEmails>;
}

/** What the pages need from the service, and nothing else. */
function policyOf({ url }: ShopService): string {
  return [
    "default-src 'none'",
    `script-src ${url}`,
    `connect-src ${url}`,
    `img-src 'self' ${url}`,
    "style-src 'self'",
    "frame-src 'self'",
    "base-uri 'none'",
    `form-action ${url}`,
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
}

/** Emails have styles in their HTML. */
const emailPolicyOf = ({ shopUrl }: Settings) =>
  `default-src 'none'; img-src ${shopUrl} data:; style-src 'unsafe-inline'; sandbox`;

function send(response: ServerResponse, status: number, type: string, body: string | Buffer, headers: object = {}) {
  response.writeHead(status, { "content-type": type, "x-content-type-options": "nosniff", ...headers });
  response.end(body);
}

const html = "text/html; charset=utf-8";

/** @param target as sent, which may not be a valid URL */
async function answer(target: string, response: ServerResponse, settings: Settings): Promise<void> {
  const [path = ""] = target.split("?", 1);
  const [, first = "", ...rest] = path.split("/");
  const given = shopLanguages.find((one) => one === first && one !== "en");
  const parts = given === undefined ? [first, ...rest] : rest;
  const [section = "", name = "", ...others] = parts;
  const page = await findPage(
    { section, name: others.length > 0 ? "/" : name },
    { ...settings, language: given ?? "en" },
  );
  if (page !== undefined) {
    const headers = { "content-security-policy": policyOf(settings), "cache-control": "no-store" };
    return send(response, 200, html, page, headers);
  }
  await answerFile(parts.join("/"), response, settings);
}

async function answerFile(path: string, response: ServerResponse, settings: Settings): Promise<void> {
  const { emails } = settings;
  if (path === "style.css") return send(response, 200, "text/css; charset=utf-8", await readAsset(path));
  const image = /^images\/([a-z]+)\.webp$/.exec(path)?.[1];
  if (image !== undefined && [...productIds, "home"].includes(image)) {
    const headers = { "cache-control": "max-age=3600" };
    return send(response, 200, "image/webp", await readAsset(`products/${image}.webp`), headers);
  }
  const category = /^emails\/([a-z_]+)\.html$/.exec(path)?.[1];
  const email = category === undefined ? undefined : (await emails()).find((one) => one.category === category);
  if (email) {
    const headers = { "content-security-policy": emailPolicyOf(settings), "cache-control": "no-store" };
    return send(response, 200, html, email.html, headers);
  }
  send(response, 404, "text/plain; charset=utf-8", "Not found\n");
}

type Place = Settings & Pick<PageSettings, "language">;

async function findPage(
  { section, name }: { section: string; name: string },
  place: Place,
): Promise<string | undefined> {
  const { url, appKey, language, shopUrl } = place;
  const scriptUrl = `${url}/starpost/v1/elements.js?app_key=${appKey}`;
  const settings = { language, texts: readShopTexts(), scriptUrl, shopUrl };
  const id = productIds.find((one) => one === name);
  if (section === "" && name === "") {
    return renderHome(settings, await readFragments(place, [["badge"], ["carousel"], ...ratingsOf(productIds)]));
  }
  if (section === "products" && name === "") {
    return renderCollection(settings, await readFragments(place, ratingsOf(productIds)));
  }
  if (section === "products" && id !== undefined) {
    const elements = ["rating", "photos", "reviews", "review-form", "questions"] as const;
    return renderProduct(
      settings,
      id,
      await readFragments(
        place,
        elements.map((element) => [element, id]),
      ),
    );
  }
  if (section !== "emails") return undefined;
  const emails = await place.emails();
  const shown = name === "" ? emails[0] : emails.find(({ category }) => category === name);
  return shown && renderEmails(settings, emails, shown);
}

/** Renders all emails, one after the other, because the service limits how many it renders at once. */
async function readEmails({ service }: ShopService, shopUrl: string) {
  const emails: (ShownEmail & { readonly html: string })[] = [];
  for (const category of sentEmailCategories) {
    const { mail } = await service.emailTemplates.preview({ category });
    emails.push({ category, subject: toSample(mail.subject, shopUrl), html: toSample(mail.html, shopUrl) });
  }
  return emails;
}

/** Replaces the shop of the sample data, and the address of its picture. */
function toSample(text: string, shopUrl: string): string {
  return text
    .replaceAll(/Tea (&amp;|&) Cups/g, "Kiln $1 Oak")
    .replaceAll(/https:\/\/shop\.example\/\w+\.png/g, `${shopUrl}/images/teapot.webp`);
}

type Wanted = readonly [element: string, product?: ProductId];

const ratingsOf = (ids: readonly ProductId[]): readonly Wanted[] => ids.map((id) => ["rating", id]);

/** Reads the HTML of elements from the service, as a shop may do on its server. Without it, the elements start empty. */
async function readFragments({ url, appKey, language }: Place, wanted: readonly Wanted[]): Promise<Fragments> {
  const keyOf = (element: string, product?: string) =>
    `${product === undefined ? "" : `products/${product}/`}elements/${element}`;
  const found = new Map<string, Html>();
  await Promise.all(
    wanted.map(async ([element, product]) => {
      const path = keyOf(element, product);
      const response = await fetch(`${url}/starpost/v1/shop/${appKey}/${path}?language=${language}`);
      // The service's own HTML.
      if (response.ok) found.set(path, trusted(await response.text()));
    }),
  );
  return (element, product) => found.get(keyOf(element, product)) ?? trusted("");
}
