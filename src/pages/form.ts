import { reviewFormLimits, shortenName } from "../contract/index.ts";
import { isolate } from "./bidi.ts";
import { type Html, markup } from "./markup.ts";

/** The values of a form and what is wrong with them. */
export interface FormState {
  readonly fields: Readonly<Record<string, string>>;
  readonly problems: readonly { readonly field: string; readonly error: string }[];
}

/** What a field is called, and a hint below it. */
interface FieldTexts {
  readonly label: string;
  readonly hint: string;
}

/** Links each error to its field. The list has the initial focus, so that it is read before the form. */
export function errorList({ problems }: FormState, heading: string): Html {
  const lines = problems.map(({ field, error }) => markup`<li><a href="#${field}">${error}</a></li>`);
  return markup`<div class="problems" role="group" aria-labelledby="problems" tabindex="-1" autofocus>
<h2 id="problems">${heading}</h2>
<ul>${lines}</ul>
</div>`;
}

export function textField(form: FormState, name: "title" | "display_name", { label, hint }: FieldTexts): Html {
  const { error, attributes } = describeField(form, name);
  const autocomplete = name === "display_name" ? "name" : "off";
  return markup`<div class="field">
<label for="${name}">${label}</label>
<span class="hint" id="${name}-hint">${hint}</span>
${error}
<input type="text" id="${name}" name="${name}" value="${form.fields[name] ?? ""}" dir="auto" required maxlength="${reviewFormLimits[name]}" autocomplete="${autocomplete}"${attributes}>
</div>`;
}

const nameHint = "Shown as your first name and the initial of your last name.";

/** A known name is shown as it will appear, and its field only to those who want to change it. */
export function nameField(form: FormState): Html {
  const field = textField(form, "display_name", { label: "Your name", hint: nameHint });
  const name = shortenName(form.fields["display_name"] ?? "");
  if (name === "" || form.problems.some(({ field: invalid }) => invalid === "display_name")) return field;
  return markup`<details class="field">
<summary>Published as ${isolate(name)} <span class="change">Change name</span></summary>
${field}
</details>`;
}

export function contentField(form: FormState, { label, hint }: FieldTexts): Html {
  const { error, attributes } = describeField(form, "content");
  // Browsers drop a line break directly after the opening tag, so one is added.
  return markup`<div class="field">
<label for="content">${label}</label>
<span class="hint" id="content-hint">${hint}</span>
${error}
<textarea id="content" name="content" rows="7" dir="auto" required maxlength="${reviewFormLimits.content}"${attributes}>
${form.fields["content"] ?? ""}</textarea>
</div>`;
}

/** Returns the error of a field, and the attributes that connect the field with its hint and error. */
export function describeField({ problems }: FormState, name: string) {
  const problem = problems.find(({ field }) => field === name);
  if (!problem) return { error: undefined, attributes: markup` aria-describedby="${name}-hint"` };
  return {
    error: markup`<span class="fault" id="${name}-fault">${problem.error}</span>`,
    attributes: markup` aria-invalid="true" aria-describedby="${name}-hint ${name}-fault"`,
  };
}
