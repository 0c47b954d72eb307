import { maxContentLength } from "../contract/storefront/limits.ts";
import type { StorefrontQuestion, StorefrontQuestions } from "../contract/storefront/storefront.ts";
import { call, formatDate, PanelElement } from "./controls.ts";
import { type Child, h, sheet } from "./dom.ts";
import { type Config, type Context, define, read } from "./element.ts";
import { createFormButton, type OpenForm } from "./forms/form-button.ts";
import { drawMore } from "./more.ts";
import css from "./questions.css";
import { drawVotes } from "./votes.ts";

const styles = sheet(css);

/** Questions with their answers, the newest first, and a form to ask. */
class QuestionsElement extends PanelElement<StorefrontQuestions> {
  readonly #drawButton = createFormButton();

  constructor() {
    super(styles);
  }

  protected override load(): Promise<StorefrontQuestions> {
    return this.#read(1);
  }

  #read(page: number): Promise<StorefrontQuestions> {
    const size = this.getAttribute("per-page") ?? "10";
    return read(`/products/${encodeURIComponent(this.productId)}/questions?per_page=${size}&page=${page}`);
  }

  protected override render(first: StorefrontQuestions, context: Context): readonly Child[] {
    const { t, shop } = context;
    if (!shop.features.questions) return [];
    const { total } = first.pagination;
    const draw = (questions: readonly StorefrontQuestion[]) =>
      questions.map((question) => this.#drawQuestion(question, context));
    const list = h("ul", {}, ...draw(first.questions));
    const paging = { list, label: t("shop.questions.more"), total };
    return [
      h("h2", { part: "heading" }, t("shop.questions.label")),
      h("p", { class: "by" }, total === 0 ? t("shop.questions.none") : t("shop.questions.count", { count: total })),
      list,
      drawMore({ ...paging, read: async (page) => draw((await this.#read(page)).questions) }, context),
      this.#drawAsking(context),
    ];
  }

  #drawQuestion({ content, answers, ...question }: StorefrontQuestion, context: Context): HTMLElement {
    const { t } = context;
    const draw = ({ id, is_shop, ...answer }: (typeof answers)[number]) =>
      h(
        "li",
        { class: "note", part: "answer" },
        is_shop && h("strong", { part: "store" }, t("shop.questions.store")),
        h("p", { class: "text", dir: "auto" }, answer.content),
        drawByline(is_shop ? { ...answer, display_name: "" } : answer, context),
        drawVotes(`/answers/${id}`, answer, context, (text) => this.announce(text)),
      );
    return h(
      "li",
      { class: "question", part: "question", tabindex: -1 },
      h("p", { class: "text asked", dir: "auto" }, content),
      drawByline(question, context),
      answers.length > 0 && h("ul", { class: "answers" }, ...answers.map(draw)),
    );
  }

  #drawAsking(context: Context): HTMLElement {
    const { t } = context;
    const label = t("shop.questions.ask");
    const open: OpenForm = async (draft) => {
      const { drawForm, personFields, productFields, textField } = await import("./forms/form.ts");
      const content = { name: "review_content", label: t("page.form.question"), maxlength: maxContentLength, rows: 3 };
      const send = async (values: Readonly<Record<string, string>>) => {
        const question = { ...productFields(this, this.productId, context), ...values, prevent_duplicate_review: true };
        await call(context, "/questions/send_confirmation_mail", question);
        return [t("shop.questions.done")];
      };
      const fields = [textField(context, content), ...personFields(context)];
      return drawForm(context, { root: this.root, label, fields, draft, send });
    };
    return this.#drawButton(context, label, open);
  }
}

/** Who wrote something, and when. */
function drawByline(
  { display_name, created_at }: { readonly display_name: string; readonly created_at: string },
  context: Context,
): HTMLElement {
  const name = display_name !== "" && h("bdi", {}, display_name);
  return h(
    "p",
    { class: "by", part: "author" },
    name,
    name && " · ",
    h("time", { datetime: created_at }, formatDate(created_at, context)),
  );
}

export const start = (config: Config): void => define(config, { questions: QuestionsElement });
