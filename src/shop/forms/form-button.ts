import { explain } from "../controls.ts";
import { type Child, h, replace } from "../dom.ts";
import type { Context } from "../element.ts";

/** What a form keeps until it has been submitted, besides the texts in its fields. */
export interface Draft {
  /** Marks each try to submit it, so that the service stores it once. */
  key?: string;
  /** The chosen photos, in Base64 when they have been read; undefined if they cannot be. */
  readonly photos: Map<File, Promise<string | undefined>>;
  /** Gets what the shopper reads after submitting it. */
  readonly onSent: (shown: readonly Child[]) => void;
}

/** Loads and draws a form. */
export type OpenForm = (draft: Draft) => Promise<HTMLFormElement>;

/**
 * Creates a button that opens a form, which is loaded then, and what the shopper reads after submitting it. They stay in
 * the element when its attributes change.
 * @returns draws them again, with what was entered
 */
export function createFormButton() {
  let draft: Draft;
  let form: HTMLFormElement | undefined;
  let drawn: { readonly context: Context; readonly open: OpenForm };
  const sent = h("div", { class: "note", role: "status", tabindex: -1, part: "sent" });
  const show = (shown: readonly Child[]) => {
    replace(sent, shown);
    sent.hidden = shown.length === 0;
  };
  const onSent = (shown: readonly Child[]) => {
    form?.remove();
    form = undefined;
    button.ariaExpanded = "false";
    show(shown);
    sent.focus();
  };
  const open = async () => {
    show([]);
    button.ariaDisabled = "true";
    if (!form) draft = { photos: new Map(), onSent };
    try {
      const next = await drawn.open(draft);
      if (form) {
        for (const [name, text] of new FormData(form)) {
          (next.elements.namedItem(name) as HTMLInputElement).value = text as string;
        }
        next.hidden = form.hidden;
        form.remove();
      }
      button.after((form = next));
      button.ariaExpanded = String(!form.hidden);
    } catch (error) {
      show([explain(error, drawn.context)]);
    }
    button.ariaDisabled = null;
  };
  const toggle = () => {
    if (button.ariaDisabled) return;
    if (form) button.ariaExpanded = String(!(form.hidden = !form.hidden));
    else void open();
  };
  const button = h("button", {
    type: "button",
    class: "main",
    part: "button",
    "aria-expanded": "false",
    onclick: toggle,
  });
  const node = h("div", { class: "ask" }, button, sent);
  show([]);
  return (context: Context, label: string, openForm: OpenForm, isOpen = false): HTMLElement => {
    drawn = { context, open: openForm };
    button.textContent = label;
    if (form || isOpen) void open();
    return node;
  };
}
