import { closest } from "fastest-levenshtein";
import { maxLength, siteReviewsId, storefrontElements } from "../../contract/index.ts";
import { type Check, failed, ok, problem, skipAll, skipped, warning } from "../check.ts";
import type { Diagnosis } from "../doctor.ts";
import {
  findBlocking,
  hasKeyword,
  parsePolicies,
  type PolicyRequest,
  policyDirectives,
} from "./content-security-policy.ts";
import { maxNesting, type PageElement, type PageMarkup, readPageMarkup } from "./page-markup.ts";

/** A page of a shop, after redirects. */
export interface FetchedPage {
  readonly url: string;
  readonly status: number;
  /** Values of `Content-Security-Policy`. */
  readonly policies: readonly string[];
  readonly contentType: string;
  readonly html: string;
  readonly redirects: number;
  readonly durationMs: number;
}

/** What the checks need from the program. */
export interface ShopCheckContext {
  /** The address of the page. */
  readonly url: string;
  /** @throws Error with a message for people, if there is no response */
  readonly fetchPage: (url: string) => Promise<FetchedPage>;
  readonly appKey: string;
  /** The public address of the service, if it is known. */
  readonly baseUrl: string | undefined;
  /** Returns those of the products that the account has. */
  readonly findProducts: (ids: readonly string[]) => Promise<readonly string[]>;
}

/** A `<script>` that loads elements. */
interface Loader {
  readonly element: PageElement;
  readonly url: URL;
  /** The address of the service, without a trailing slash. */
  readonly base: string;
  readonly appKey: string | null;
}

interface Page extends FetchedPage {
  readonly location: URL;
  readonly markup: PageMarkup;
  readonly loaders: readonly Loader[];
}

const elementNames = storefrontElements.map((name) => `starpost-${name}`);

/** Elements that need no product. */
const withoutProduct: ReadonlySet<string> = new Set(["starpost-carousel", "starpost-badge"]);

const names = ["script", "service", "elements", "products", "policy", "structured-data"];

/** Checks a page of a shop. Never throws because of the page. */
export async function checkShopPage(context: ShopCheckContext): Promise<Diagnosis> {
  const checks = await runChecks(context);
  return { ok: checks.every(({ status }) => status !== "problem"), checks };
}

async function runChecks(context: ShopCheckContext): Promise<readonly Check[]> {
  let fetched: FetchedPage;
  try {
    fetched = await context.fetchPage(context.url);
  } catch (error) {
    return [
      failed(
        "reachability",
        error,
        "Check the address. For a page on this machine or in a private network, add --allow-private.",
      ),
      ...skipAll(names, "the page cannot be reached"),
    ];
  }
  const { status } = fetched;
  if (status >= 500 || status === 429) {
    const fix = "Try again later, or look at the log of the shop.";
    return [problem("reachability", `HTTP ${status}`, fix), ...skipAll(names, "the page cannot be reached")];
  }
  const shown = `HTTP ${status} from ${fetched.url} after ${Math.round(fetched.durationMs)} ms`;
  const reached = ok("reachability", fetched.redirects > 0 ? `${shown} (${fetched.redirects} redirects)` : shown);
  if (status >= 400)
    return [
      reached,
      problem("page", `the page has status ${status}`, "Check the address."),
      ...skipAll(names, "there is no page"),
    ];
  if (!/\b(?:html|xhtml)\b/i.test(fetched.contentType)) {
    const found = `the page is not HTML (${fetched.contentType || "no content type"})`;
    return [reached, problem("page", found, "Check the address."), ...skipAll(names, "the page is not HTML")];
  }
  const page = readPage(fetched);
  if (!page) {
    const found = `the page nests more than ${maxNesting} elements`;
    return [
      reached,
      problem("page", found, "Close the elements of the page."),
      ...skipAll(names, "the page cannot be read"),
    ];
  }
  return [
    reached,
    ...checkScript(page, context),
    await checkService(page, context),
    checkElements(page),
    await checkProducts(page, context),
    checkPolicy(page, context),
    checkStructuredData(page),
  ];
}

/** @returns undefined if the elements of the page are nested too deeply */
function readPage(fetched: FetchedPage): Page | undefined {
  const location = new URL(fetched.url);
  const markup = readPageMarkup(fetched.html);
  if (!markup) return undefined;
  const base = new URL(URL.canParse(markup.base ?? "", location.href) ? (markup.base ?? "") : "", location);
  const loaders = markup.scripts.flatMap((element) => {
    const src = element.attributes["src"] ?? "";
    if (!URL.canParse(src, base.href)) return [];
    const url = new URL(src, base);
    const [, path] = /^(.*)\/starpost\/v1\/elements(?:\.js|\/[^/]+\.js)$/.exec(url.pathname) ?? [];
    if (path === undefined) return [];
    return [{ element, url, base: `${url.origin}${path}`, appKey: url.searchParams.get("app_key") }];
  });
  return { ...fetched, location, markup, loaders };
}

const seeSnippet = "Paste what `starpost shop snippet` prints.";

function checkScript({ loaders, location, markup }: Page, { appKey, baseUrl }: ShopCheckContext): Check[] {
  const name = "script";
  const [loader, ...others] = loaders;
  if (!loader) return [problem(name, "the page does not load the script of starpost", seeSnippet)];
  const { url, base, element } = loader;
  const found: Check[] = [];
  if (location.protocol === "https:" && url.protocol === "http:") {
    found.push(
      problem(
        name,
        `the page uses HTTPS, but loads ${url.href} with HTTP, which browsers block`,
        "Use the https address of the service.",
      ),
    );
  }
  if (loader.appKey === null || loader.appKey === "") {
    found.push(problem(name, "the address of the script has no app_key", seeSnippet));
  } else if (loader.appKey !== appKey) {
    found.push(
      problem(
        name,
        `the app key of the script is ${loader.appKey}, but the profile's account has ${appKey}`,
        `${seeSnippet} To check the page of another account, use --profile or --account.`,
      ),
    );
  }
  if (element.attributes["type"]?.trim().toLowerCase() !== "module") {
    found.push(
      problem(
        name,
        "the script is not a module, so browsers cannot run it",
        'Add type="module" to the <script> element.',
      ),
    );
  }
  if (baseUrl !== undefined && base !== baseUrl) {
    found.push(
      warning(
        name,
        `the script comes from ${base}, but the profile's service is ${baseUrl}`,
        "Use the address of the service, unless both are the same service.",
      ),
    );
  }
  if (others.length > 0) {
    found.push(
      warning(name, `the page loads the script ${loaders.length} times`, "Keep one of them, and remove the others."),
    );
  }
  if (markup.elements.length === 0) {
    found.push(
      warning(
        name,
        "the page loads the script, but has no elements of starpost",
        "If JavaScript adds them, ignore this warning. Otherwise, paste those that `starpost shop snippet` prints.",
      ),
    );
  }
  return found.length > 0 ? found : [ok(name, url.href)];
}

/** Requests the script, which the service may not have, such as a pinned one of an earlier version. */
async function checkService({ loaders: [loader] }: Page, { fetchPage }: ShopCheckContext): Promise<Check> {
  const name = "service";
  if (!loader) return skipped(name, "the page does not load the script");
  const { href, pathname } = loader.url;
  try {
    const { status, durationMs } = await fetchPage(href);
    if (status < 400) return ok(name, `HTTP ${status} from ${loader.base} after ${Math.round(durationMs)} ms`);
    const isPinned = !pathname.endsWith("/elements.js");
    const fix = isPinned ? "Paste what `starpost shop snippet --pinned` prints for this version." : seeSnippet;
    return problem(name, `the script cannot be loaded: HTTP ${status} from ${href}`, fix);
  } catch (error) {
    const { message } = failed(name, error, "");
    const fix = "Check that browsers of shoppers can reach the service.";
    return warning(name, `this machine cannot load the script from ${loader.base}: ${message}`, fix);
  }
}

function checkElements({ markup: { elements } }: Page): Check {
  const name = "elements";
  if (elements.length === 0) return skipped(name, "the page has no elements");
  const unknown = elements.find((element) => !elementNames.includes(element.name));
  if (unknown) {
    const suggestion = `Did you mean ${closest(unknown.name, elementNames)}?`;
    return problem(name, `<${unknown.name}> is not an element of starpost`, suggestion);
  }
  const incomplete = elements.find((element) => !withoutProduct.has(element.name) && productOf(element) === "");
  if (incomplete) {
    return problem(
      name,
      `<${incomplete.name}> has no product`,
      'Add the attribute product="ID", with the ID of the product.',
    );
  }
  const unclear = elements.find((element) => isTemplate(productOf(element)));
  if (unclear) {
    return problem(
      name,
      `the product of <${unclear.name}> is ${JSON.stringify(productOf(unclear))}: a template that was not filled in`,
      "Put the element where the shop's template language works.",
    );
  }
  const counts = [...new Set(elements.map((element) => element.name))].map((found) => {
    const count = elements.filter((element) => element.name === found).length;
    return count > 1 ? `${count} × ${found}` : found;
  });
  return ok(name, counts.join(", "));
}

function productOf({ attributes }: PageElement): string {
  return attributes["product"]?.trim() ?? "";
}

/** How many products are checked: more than a page lists. */
const maxProducts = 1_000;

/** Whether a value contains a variable of a template language, instead of its value. */
function isTemplate(value: string): boolean {
  return /\{\{|\{%|<\?|\$\{/.test(value);
}

async function checkProducts({ markup }: Page, { findProducts }: ShopCheckContext): Promise<Check> {
  const name = "products";
  const ids = [...new Set(markup.elements.map(productOf))].filter(
    (id) => id !== "" && id !== siteReviewsId && !isTemplate(id),
  );
  if (ids.length === 0) return skipped(name, "no element names a product");
  try {
    const checked = ids.slice(0, maxProducts);
    const known = new Set(await findProducts(checked.filter((id) => id.length <= maxLength.id)));
    const unknown = checked.filter((id) => !known.has(id));
    if (unknown.length === 0) {
      if (ids.length > maxProducts)
        return ok(name, `the account has the first ${maxProducts} of ${ids.length} products`);
      return ok(
        name,
        ids.length === 1 ? `the account has product ${ids[0]}` : `the account has all ${ids.length} products`,
      );
    }
    const shown = unknown
      .slice(0, 5)
      .map((id) => JSON.stringify(id))
      .join(", ");
    const more = unknown.length > 5 ? ` and ${unknown.length - 5} more` : "";
    return problem(
      name,
      `the account does not have: ${shown}${more}`,
      "Use the IDs that `starpost products list` shows. Products also appear with their first order or review.",
    );
  } catch (error) {
    return failed(name, error, "Run `starpost doctor` to check the connection.");
  }
}

function checkPolicy(page: Page, { baseUrl }: ShopCheckContext): Check {
  const name = "policy";
  const { location, markup } = page;
  const policies = [...page.policies, ...markup.policies].flatMap(parsePolicies);
  if (policies.length === 0) return ok(name, "the page has no content security policy");
  const [loader] = page.loaders;
  const base = loader?.base ?? baseUrl;
  if (base === undefined) return skipped(name, "the address of the service is not known");
  if (policies.some((policy) => policy.has("sandbox") && !hasKeyword(policy.get("sandbox") ?? [], "allow-scripts"))) {
    return problem(name, "the directive sandbox blocks all scripts", "Add allow-scripts to it.");
  }
  const blocked = new Set<string>();
  const { nonce, integrity } = loader?.element.attributes ?? {};
  const at = (path: string) => new URL(`${base}/starpost/v1/${path}`);
  const scripts: PolicyRequest[] = [
    { url: loader?.url ?? at("elements.js"), directives: policyDirectives.script, nonce, integrity },
    // Bundles that the script loads.
    { url: at("elements/reviews.js"), directives: policyDirectives.script, nonce, isImported: true },
  ];
  const others: PolicyRequest[] = [
    { url: at("shop/settings"), directives: policyDirectives.connect },
    { url: at("images/1"), directives: policyDirectives.image },
  ];
  for (const policy of policies) {
    for (const request of [...scripts, ...others]) {
      const directive = findBlocking(policy, request, location);
      if (directive !== undefined) blocked.add(directive);
    }
  }
  if (blocked.size === 0) return ok(name, "the content security policy allows the elements");
  const origin = new URL(base).origin;
  return problem(
    name,
    `the content security policy blocks ${origin}: ${[...blocked].join(", ")}`,
    `Add ${origin} to script-src, connect-src, and img-src.`,
  );
}

function checkStructuredData({ markup }: Page): Check {
  const name = "structured-data";
  const { products, elements, invalidJsonLd } = markup;
  const writers = elements.filter((element) => element.name === "starpost-reviews" && "json-ld" in element.attributes);
  const rated = products.filter(({ hasRating }) => hasRating);
  if (invalidJsonLd > 0) {
    return problem(
      name,
      "the page has a JSON-LD block that is not valid JSON",
      "Correct it, because search engines ignore it.",
    );
  }
  if (writers.length > 1) {
    return problem(
      name,
      `${writers.length} elements have json-ld, so the page would describe several products`,
      "Remove json-ld from all of them except the page's product.",
    );
  }
  if (writers.length === 0) {
    if (rated.length > 1)
      return problem(name, `the page rates ${rated.length} products in its own markup`, "Keep one of them.");
    return ok(name, rated.length === 1 ? "one product with a rating, not by starpost" : "no rated product");
  }
  const [other] = rated;
  if (other) {
    return problem(
      name,
      `the page already has a Product with a rating (${other.format}), and json-ld adds another`,
      "Turn off the ratings of the theme or the other app, or remove json-ld from <starpost-reviews>.",
    );
  }
  if (products.some(({ format }) => format === "microdata")) {
    return problem(
      name,
      "the page describes its product in microdata, to which json-ld cannot add the rating",
      "Turn off the microdata of the theme, or remove json-ld from <starpost-reviews>.",
    );
  }
  if (products.some(({ hasId }) => !hasId)) {
    return problem(
      name,
      "the page's Product (JSON-LD) has no @id, so json-ld adds a second Product",
      'Give it an "@id", such as the address of the page with #product.',
    );
  }
  return ok(
    name,
    products.length > 0 ? "json-ld adds the rating to the page's Product" : "json-ld adds the Product with its rating",
  );
}
