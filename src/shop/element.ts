import type { StorefrontShop } from "../contract/storefront/storefront.ts";
import type { MessageKey } from "../messages/catalogs.ts";
import { type Child, h, replace, sheet } from "./dom.ts";
import css from "./element.css";
import { languages, loadTexts } from "./languages.ts";
import { formatText, type Texts, type Values } from "./texts.ts";

/** What the loader knows from its URL. */
export interface Config {
  /** The URL of the service, without a slash at the end. */
  readonly service: string;
  readonly appKey: string;
  /** The URL of the endpoints of the shop. */
  readonly shop: string;
  /** The element of the loader, which may state a language for all elements. */
  readonly script: HTMLScriptElement | undefined;
  /** The response of the endpoint `settings`. */
  readonly settings: Promise<Response>;
}

/** A file with elements. */
export interface Bundle {
  readonly start: (config: Config) => void;
}

let config: Config;
let settings: Promise<StorefrontShop>;

/** Registers elements, by their names without `starpost-`. */
export function define(given: Config, elements: Readonly<Record<string, CustomElementConstructor>>): void {
  config ??= given;
  settings ??= readResponse<{ shop: StorefrontShop }>(config.settings).then(({ shop }) => {
    setBrand(shop.brand);
    return shop;
  });
  for (const [name, element] of Object.entries(elements)) {
    if (!customElements.get(`starpost-${name}`)) customElements.define(`starpost-${name}`, element);
  }
}

/** Why the service refused a call: its response, and the body of it, if it is JSON. */
export interface Refusal {
  readonly response: Response;
  readonly body: unknown;
}

/** @throws Refusal */
export async function readResponse<T>(pending: Promise<Response>): Promise<T> {
  const response = await pending;
  const body = (await response.json().catch(() => {})) as { response?: T } | undefined;
  if (!response.ok || !body) throw Object.assign(new Error(), { response, body } satisfies Refusal);
  return body.response ?? (body as T);
}

const pending = new Map<string, Promise<unknown>>();

/** Reads an endpoint of the shop. Equal reads at the same time share a request. @throws Refusal */
export function read<T>(path: string): Promise<T> {
  const known = pending.get(path) as Promise<T> | undefined;
  const made = known ?? readResponse<T>(fetch(config.shop + path)).finally(() => pending.delete(path));
  pending.set(path, made);
  return made;
}

const shared = sheet(css);

function setBrand({ radius, color_scheme, ...colors }: StorefrontShop["brand"]): void {
  const { style } = shared.cssRules[0] as CSSStyleRule;
  for (const [name, color] of Object.entries(colors)) style.setProperty(`--${name}`, color);
  style.setProperty("--radius", `${radius}px`);
  if (color_scheme !== "auto") style.colorScheme = color_scheme;
}

/** What an element needs to show texts. */
export interface Context extends Pick<Config, "appKey" | "service" | "script"> {
  readonly shop: StorefrontShop;
  readonly language: string;
  readonly t: (key: MessageKey, values?: Values) => string;
}

/** The language of messages for a language tag. As `matchLanguage` of the server. */
function matchLanguage(tag: string): string | undefined {
  const [primary] = tag.toLowerCase().split(/[-_]/);
  // Readers of the traditional script may not know the simplified one.
  return /^zh.*(?:hant|tw|hk|mo)/i.test(tag) ? undefined : languages.find((name) => name.split("-")[0] === primary);
}

async function openContext(tag: string): Promise<Context> {
  const language = matchLanguage(tag) ?? (await settings).language;
  const [shop, { default: builtIn }] = await Promise.all([settings, loadTexts(language)]);
  const texts: Texts = { ...builtIn, ...shop.messages[language] };
  const t: Context["t"] = (key, values = {}) => formatText(texts[key] ?? key, values, language);
  return { ...config, shop, language, t };
}

/**
 * An element of the shop's page. Until its data is there, and if the service cannot be reached, it shows what the page has
 * placed inside it; then it shows `render` instead, in its shadow tree. The nodes of the page stay as they are.
 */
export abstract class StarpostElement<Data> extends HTMLElement {
  static readonly observedAttributes: readonly string[] = ["product", "language", "per-page", "href", "reviews"];

  protected readonly root = this.attachShadow({ mode: "open" });
  readonly #content = h("div", { part: "content" }, h("slot"));
  /** Counts updates, so that a late response of an earlier one is ignored. */
  #updates = 0;

  constructor(...sheets: readonly CSSStyleSheet[]) {
    super();
    this.root.adoptedStyleSheets = [shared, ...sheets];
    this.root.append(this.#content);
  }

  connectedCallback(): void {
    if (this.#updates === 0) void this.#update();
  }

  attributeChangedCallback(_name: string, before: string | null, after: string | null): void {
    if (this.#updates > 0 && before !== after) void this.#update();
  }

  protected get productId(): string {
    return this.getAttribute("product") ?? "";
  }

  /** Reads what the element shows. @throws if it cannot be read, so that the element stays as it is */
  protected abstract load(): Promise<Data>;

  protected abstract render(data: Data, context: Context): readonly Child[];

  async #update(): Promise<void> {
    this.#updates += 1;
    const update = this.#updates;
    const tag =
      this.getAttribute("language") ??
      config.script?.dataset["language"] ??
      this.closest<HTMLElement>("[lang]")?.lang ??
      "";
    const loaded = await Promise.all([this.load(), openContext(tag)]).catch(() => {});
    if (!loaded || update !== this.#updates) return;
    const [data, context] = loaded;
    const content = this.#content;
    content.lang = context.language;
    content.dir = /^(?:ar|he)/.test(context.language) ? "rtl" : "ltr";
    this.show(content, this.render(data, context));
  }

  protected show(content: HTMLElement, children: readonly Child[]): void {
    replace(content, children);
  }
}
