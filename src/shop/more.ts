import { explain } from "./controls.ts";
import { h } from "./dom.ts";
import type { Context } from "./element.ts";

interface Paging {
  /** Its elements can have the focus. */
  readonly list: HTMLElement;
  readonly label: string;
  /** The number of elements on all pages. */
  readonly total: number;
  /** @throws Refusal */
  readonly read: (page: number) => Promise<readonly HTMLElement[]>;
}

/** A button that adds the next page to a list, and moves the focus to the first new element. */
export function drawMore({ list, label, total, read }: Paging, context: Context): HTMLElement {
  let page = 1;
  const problem = h("p", { class: "problem", role: "alert" });
  const showMore = async () => {
    if (button.ariaDisabled) return;
    button.ariaDisabled = "true";
    try {
      const found = await read(page + 1);
      page += 1;
      list.append(...found);
      found[0]?.focus();
      problem.textContent = "";
      button.hidden = found.length === 0 || list.childElementCount >= total;
    } catch (error) {
      problem.textContent = explain(error, context);
    }
    button.ariaDisabled = null;
  };
  const button = h("button", { type: "button", part: "button", onclick: showMore }, label);
  button.hidden = list.childElementCount >= total;
  return h("div", { class: "more" }, button, problem);
}
