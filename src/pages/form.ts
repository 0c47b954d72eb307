import { imageLimits, isBlank, maxEmailLength, reviewFormLimits, shortenName } from "../contract/index.ts";
import type { MessageKey } from "../messages/messages.ts";
import { type Html, markup } from "./markup.ts";
import type { PageContext, Refusal } from "./page-context.ts";

/** The values of a form and what is wrong with them. */
export interface FormState {
  readonly fields: Readonly<Record<string, string>>;
  readonly problems: readonly { readonly field: string; readonly error: string }[];
}

/** What a form is for, and how its page is written. */
export interface FormContext extends PageContext {
  readonly subject: "review" | "question" | "answer";
}

type FieldName = "score" | "email" | keyof typeof reviewFormLimits;

const missingNames = {
  review: "page.problem.review_name",
  question: "page.write.question_name",
  answer: "page.problem.answer_name",
} as const;

/** Describes what the service says in English. */
function describeProblem({ fields }: FormState, field: string, { t, text, subject }: FormContext): Html {
  const name = field as FieldName;
  if (name === "score") return t("page.problem.score");
  if (name === "email") return t("page.problem.email");
  const [value, limit] = [fields[name] ?? "", reviewFormLimits[name]];
  const texts = {
    title: ["page.form.title", "page.problem.title"],
    content: [`page.form.${subject}`, `page.problem.${subject}`],
    display_name: ["page.form.name", missingNames[subject]],
  } as const;
  const [label, missing] = texts[name];
  if (isBlank(value)) return t(missing);
  const isLong = value.length > limit;
  const values = { field: text(label), limit, length: value.length };
  return t(isLong ? "page.problem.length" : "page.problem.characters", values);
}

/** Explains why a form that is valid was refused, and what to do. Focused as a list of errors. */
export function refusalBox({ kind, retryAfterMs = 0, typed }: Refusal, heading: MessageKey, { t }: PageContext): Html {
  const minutes = Math.max(1, Math.ceil(retryAfterMs / minuteMs));
  const hours = Math.ceil(minutes / 60);
  const reason =
    kind === "bodyTooLarge"
      ? t("page.write.photo_size", { megabytes })
      : kind !== "tooManyRequests"
        ? t("page.write.busy")
        : minutes > 90
          ? t("page.write.limit_hours", { hours })
          : t("page.write.limit", { minutes });
  const kept = typed["content"] !== undefined && markup`<p>${t("page.write.kept")}</p>`;
  return problemBox(t(heading), markup`<p>${reason}</p>${kept}`);
}

const minuteMs = 60_000;

/** The maximum size of a photo. */
export const megabytes = imageLimits.bytes / 1_024 ** 2;

/** A box that has the initial focus, so that it is read before the form. */
export function problemBox(heading: Html, content: Html): Html {
  return markup`<div class="problems" role="group" aria-labelledby="problems" tabindex="-1" autofocus>
<h2 id="problems">${heading}</h2>
${content}
</div>`;
}

/** Links each error to its field. */
export function errorList(form: FormState, heading: MessageKey, context: FormContext): Html | undefined {
  if (form.problems.length === 0) return undefined;
  const { t } = context;
  const lines = form.problems.map(
    ({ field }) => markup`<li><a href="#${field}">${describeProblem(form, field, context)}</a></li>`,
  );
  return problemBox(t(heading), markup`<ul>${lines}</ul>`);
}

export function textField(form: FormState, name: "title" | "display_name", context: FormContext): Html {
  const { t } = context;
  const { error, attributes } = describeField(form, name, context);
  const autocomplete = name === "display_name" ? "name" : "off";
  const label = name === "title" ? "page.form.title" : "page.form.name";
  return markup`<div class="field">
<label for="${name}">${t(label)}</label>
<span class="hint" id="${name}-hint">${t(`${label}_hint`)}</span>
${error}
<input type="text" id="${name}" name="${name}" value="${form.fields[name] ?? ""}" dir="auto" required maxlength="${reviewFormLimits[name]}" autocomplete="${autocomplete}"${attributes}>
</div>`;
}

/** A known name is shown as it will appear, and its field only to those who want to change it. */
export function nameField(form: FormState, context: FormContext): Html {
  const { t } = context;
  const field = textField(form, "display_name", context);
  const name = shortenName(form.fields["display_name"] ?? "");
  if (name === "" || form.problems.some(({ field: invalid }) => invalid === "display_name")) return field;
  return markup`<details class="field">
<summary>${t("page.form.published_as", { name })} <span class="change">${t("page.form.change_name")}</span></summary>
${field}
</details>`;
}

export function contentField(form: FormState, context: FormContext): Html {
  const { t, subject } = context;
  const { error, attributes } = describeField(form, "content", context);
  // Browsers drop a line break directly after the opening tag, so one is added.
  return markup`<div class="field">
<label for="content">${t(`page.form.${subject}`)}</label>
<span class="hint" id="content-hint">${t(`page.form.${subject}_hint`)}</span>
${error}
<textarea id="content" name="content" rows="7" dir="auto" required maxlength="${reviewFormLimits.content}"${attributes}>
${form.fields["content"] ?? ""}</textarea>
</div>`;
}

/** Returns the error of a field, and the attributes that connect the field with its hint and error. */
export function describeField(form: FormState, name: string, context: FormContext) {
  if (!form.problems.some(({ field }) => field === name)) {
    return { error: undefined, attributes: markup` aria-describedby="${name}-hint"` };
  }
  return {
    error: markup`<span class="fault" id="${name}-fault">${describeProblem(form, name, context)}</span>`,
    attributes: markup` aria-invalid="true" aria-describedby="${name}-hint ${name}-fault"`,
  };
}

/** The field for the address of a shopper, which is not published. @param hint why it is needed */
export function emailField(form: FormState, hint: MessageKey, context: FormContext): Html {
  const { t } = context;
  const { error, attributes } = describeField(form, "email", context);
  return markup`<div class="field">
<label for="email">${t("page.mine.email")}</label>
<span class="hint" id="email-hint">${t(hint)}</span>
${error}
<input type="email" id="email" name="email" value="${form.fields["email"] ?? ""}" required maxlength="${maxEmailLength}" autocomplete="email"${attributes}>
</div>`;
}
