import css from "./controls.css";
import { type Child, h, replace, sheet } from "./dom.ts";
import { type Context, readResponse, type Refusal, StarpostElement } from "./element.ts";

/** The design of buttons, fields, and problems. */
const controls = sheet(css);

/** An element of several lines, with controls. */
export abstract class PanelElement<Data> extends StarpostElement<Data> {
  readonly #live = h("div", { class: "unseen", role: "status" });
  #isShown = false;

  constructor(...sheets: readonly CSSStyleSheet[]) {
    super(controls, ...sheets);
    this.root.append(this.#live);
  }

  override connectedCallback(): void {
    // Without nodes of the page, nothing else reserves space.
    const isEmpty = !this.#isShown && this.firstElementChild === null;
    this.root.firstElementChild?.classList.toggle("loading", isEmpty);
    super.connectedCallback();
  }

  /** Has a screen reader say a text, without moving the focus. */
  protected announce(text: string): void {
    this.#live.textContent = text;
  }

  /**
   * Keeps the space that it had, so that what follows stays in its place, until the shopper clicks or types anywhere; not if
   * it is below the visible part of the page, where nobody sees its height change. If it needs more, and its end is visible,
   * the server's HTML stays until then, or until its end is no longer visible.
   */
  protected override show(content: HTMLElement, children: readonly Child[]): void {
    const isUnseen = this.#isShown || this.getBoundingClientRect().top > innerHeight;
    this.#isShown = true;
    if (isUnseen) {
      content.classList.remove("loading");
      return super.show(content, children);
    }
    const slot = content.firstChild;
    if (this.#place(content, children) || !slot || !this.querySelector(".starpost-element")) return;
    const waiting = new AbortController();
    const retry = ({ type }: Event) => {
      if (type === "keydown" && this.contains(document.activeElement)) return;
      if (type === "scroll" && this.#isEndVisible) return;
      waiting.abort();
      if (slot.isConnected) this.#place(content, children);
    };
    content.style.cssText = "";
    replace(content, [slot]);
    for (const type of ["click", "keydown", "scroll"]) addEventListener(type, retry, waiting);
  }

  get #isEndVisible(): boolean {
    const { bottom } = this.getBoundingClientRect();
    return bottom > 0 && bottom < innerHeight;
  }

  /** @returns whether nothing that is visible has moved */
  #place(content: HTMLElement, children: readonly Child[]): boolean {
    const { style } = content;
    const isEndVisible = this.#isEndVisible;
    const measure = () => [content.getBoundingClientRect().top, this.parentElement?.offsetHeight ?? 0] as const;
    const [top, height] = measure();
    style.minHeight = `${content.offsetHeight}px`;
    content.classList.remove("loading");
    super.show(content, children);
    // The margins of the page's nodes were part of the space.
    style.marginTop = `${Math.max(0, top - measure()[0])}px`;
    const growth = measure()[1] - height;
    style.marginBottom = `${Math.max(0, -growth)}px`;
    const release = () => (style.minHeight = style.marginBottom = "");
    addEventListener("pointerdown", release, { once: true });
    addEventListener("keydown", release, { once: true });
    return !isEndVisible || growth <= 0;
  }
}

/** Adds the style sheet of something that was loaded later. */
export function adoptStyles(root: ShadowRoot, styles: CSSStyleSheet): void {
  if (!root.adoptedStyleSheets.includes(styles)) root.adoptedStyleSheets.push(styles);
}

/** Calls an operation of the service. @param body sent as JSON by POST; without one, by GET @throws Refusal */
export function call<T>({ service }: Context, path: string, body?: object): Promise<T> {
  const headers = { "content-type": "application/json" };
  const post = body && { method: "POST", headers, body: JSON.stringify(body) };
  return readResponse<T>(fetch(service + path, post));
}

/** Explains to a shopper why a call failed. */
export function explain(error: unknown, { t }: Context): string {
  const { response } = error as Partial<Refusal>;
  if (response?.status !== 429) return t("shop.form.failed");
  const minutes = Math.max(1, Math.ceil(Number(response.headers.get("retry-after")) / 60));
  if (minutes < 60) return t("shop.form.wait", { minutes });
  return t("shop.form.wait_hours", { hours: Math.ceil(minutes / 60) });
}

/** The date of a timestamp. */
export function formatDate(timestamp: string, { language }: Context): string {
  return new Date(timestamp).toLocaleDateString(language, { dateStyle: "medium", timeZone: "UTC" });
}
