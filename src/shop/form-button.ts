import { explain } from "./controls.ts";
import { type Child, h, replace } from "./dom.ts";
import type { Context } from "./element.ts";

/** Loads and draws a form. @param onSent gets what the shopper reads after submitting it */
export type OpenForm = (onSent: (shown: readonly Child[]) => void) => Promise<HTMLFormElement>;

/** A button that opens a form, which is loaded then, and what the shopper reads after submitting it. */
export function drawFormButton(context: Context, label: string, open: OpenForm, isOpen = false): HTMLElement {
  let form: HTMLFormElement | undefined;
  const sent = h("div", { class: "note", role: "status", tabindex: -1, part: "sent" });
  const show = (shown: readonly Child[]) => {
    replace(sent, shown);
    sent.hidden = shown.length === 0;
  };
  const close = (shown: readonly Child[]) => {
    form?.remove();
    form = undefined;
    button.ariaExpanded = "false";
    show(shown);
    sent.focus();
  };
  const toggle = async () => {
    if (button.ariaDisabled) return;
    show([]);
    if (form) form.hidden = !form.hidden;
    else {
      button.ariaDisabled = "true";
      try {
        form = await open(close);
        button.after(form);
      } catch (error) {
        show([explain(error, context)]);
      }
      button.ariaDisabled = null;
    }
    button.ariaExpanded = String(form !== undefined && !form.hidden);
  };
  const attributes = { type: "button", class: "main", part: "button", "aria-expanded": "false", onclick: toggle };
  const button = h("button", attributes, label);
  show([]);
  if (isOpen) void toggle();
  return h("div", { class: "ask" }, button, sent);
}
