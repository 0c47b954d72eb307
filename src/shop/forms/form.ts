import { maxEmailLength, maxNameLength } from "../../contract/storefront/limits.ts";
import { adoptStyles, explain } from "../controls.ts";
import { type Child, h, sheet } from "../dom.ts";
import type { Context, Refusal } from "../element.ts";
import css from "./form.css";
import type { Draft } from "./form-button.ts";

const styles = sheet(css);

/** A part of a form. */
export interface Field {
  /** As the service names it, also in its errors. */
  readonly name: string;
  readonly node: HTMLElement;
  /** Gets the focus if the value is invalid. */
  readonly control: HTMLElement;
  readonly findProblem: () => string | undefined;
  readonly showProblem: (text?: string) => void;
}

/** Shows the problem of a field. */
export function describe(control: HTMLElement, name: string, hint?: string) {
  const problem = h("span", { class: "fault", id: `${name}-problem`, part: "problem" });
  const hintNode = hint && h("span", { class: "by", id: `${name}-hint` }, hint);
  control.setAttribute("aria-describedby", `${name}-hint ${name}-problem`);
  const showProblem = (text = "") => {
    problem.textContent = text;
    control.ariaInvalid = text ? "true" : null;
  };
  return { parts: [hintNode, problem] as readonly Child[], showProblem };
}

interface TextField {
  /** As the service names it. */
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  /** Of several lines. */
  readonly rows?: number;
  readonly type?: "email";
  readonly maxlength?: number;
  readonly autocomplete?: string;
}

export function textField({ t }: Context, { label, hint, ...attributes }: TextField): Field {
  const { name, rows } = attributes;
  const control = h(rows ? "textarea" : "input", {
    id: name,
    required: true,
    dir: "auto",
    part: "input",
    ...attributes,
  });
  const { parts, showProblem } = describe(control, name, hint);
  const findProblem = () => {
    if (control.value.trim() === "") return t("shop.form.empty");
    return control.validity.valid ? undefined : t("page.problem.email");
  };
  control.addEventListener("input", () => showProblem());
  const node = h("div", { class: "field" }, h("label", { for: name }, label), ...parts, control);
  return { name, node, control, findProblem, showProblem };
}

/** The product of an element, or the shop, as the service names its fields. */
export function productFields(
  element: Element,
  product: string,
  { appKey, shop }: Context,
): Readonly<Record<string, string | null>> {
  const given = (name: string) => element.getAttribute(`product-${name}`);
  const isShop = product === "service_site_reviews";
  return {
    appkey: appKey,
    sku: product,
    product_title: given("name") ?? ((isShop && shop.name) || document.title),
    product_url: given("url") ?? ((isShop && shop.url) || location.href),
    product_image_url: given("image"),
  };
}

/** The name and the email address of the person who writes. */
export function personFields(context: Context): readonly Field[] {
  const { t } = context;
  const name = {
    label: t("page.form.name"),
    hint: t("page.form.name_hint"),
    maxlength: maxNameLength,
    autocomplete: "name",
  };
  const email = {
    label: t("shop.form.email"),
    hint: t("shop.form.email_hint"),
    maxlength: maxEmailLength,
    autocomplete: "email",
  };
  return [
    textField(context, { name: "display_name", ...name }),
    textField(context, { name: "email", type: "email", ...email }),
  ];
}

interface FormOptions {
  /** Where it will be. */
  readonly root: ShadowRoot;
  readonly label: string;
  readonly fields: readonly Field[];
  readonly draft: Draft;
  /**
   * Sends what was entered.
   * @param report shows the progress
   * @returns what the shopper reads then
   * @throws Refusal
   */
  readonly send: (values: Values, report: (text: string) => void) => Promise<readonly Child[]>;
}

/** What was entered, and the key of the form, by the names of the service. */
export type Values = Readonly<Record<string, string>>;

/** The field that the service does not accept. */
function findRefused(error: unknown, fields: readonly Field[]): Field | undefined {
  const { status } = ((error as Partial<Refusal>).body ?? {}) as { readonly status?: { readonly message: string } };
  const [, name] = /^(?:Missing )?(\w+)/.exec(status?.message ?? "") ?? [];
  return fields.find((field) => field.name === name);
}

function drawConsent({ t, shop: { consent_text, privacy_url, terms_url } }: Context): Child {
  const link = (url: string | null, text: string) =>
    url && h("a", { href: url, target: "_blank", rel: "noopener" }, text);
  const [privacy, terms] = [link(privacy_url, t("page.privacy")), link(terms_url, t("page.terms"))];
  if (!consent_text && !privacy && !terms) return undefined;
  return h("p", { class: "by text", part: "consent" }, h("bdi", {}, consent_text), " ", privacy, " ", terms);
}

export function drawForm(context: Context, { root, label, fields, draft, send }: FormOptions): HTMLFormElement {
  adoptStyles(root, styles);
  const { t } = context;
  const status = h("p", { role: "status", part: "status" });
  const button = h("button", { class: "main", part: "button" }, t("shop.form.send"));
  const report = (text: string, isProblem = false) => {
    status.className = isProblem ? "problem" : "by";
    status.textContent = text;
  };
  const fail = (error: unknown) => {
    const refused = findRefused(error, fields);
    refused?.showProblem(t("shop.form.refused"));
    refused?.control.focus();
    report(`${refused ? t("shop.form.refused") : explain(error, context)} ${t("shop.form.kept")}`, true);
  };
  const submit = async (form: HTMLFormElement) => {
    for (const field of fields) field.showProblem(field.findProblem());
    const first = fields.find((field) => field.findProblem());
    first?.control.focus();
    if (first || button.ariaDisabled) return;
    button.ariaDisabled = "true";
    report(t("shop.form.sending"));
    draft.key ??= String(crypto.getRandomValues(new Uint32Array(8)));
    const values = { ...Object.fromEntries(new FormData(form)), idempotency_key: draft.key } as Values;
    await send(values, report).then(draft.onSent, fail);
    button.ariaDisabled = null;
  };
  const onsubmit = (event: Event) => {
    event.preventDefault();
    void submit(event.target as HTMLFormElement);
  };
  const parts = [...fields.map(({ node }) => node), drawConsent(context), button, status];
  return h("form", { novalidate: true, "aria-label": label, part: "form", onsubmit }, ...parts);
}
