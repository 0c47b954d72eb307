import type { SentEmailCategory } from "../../contract/index.ts";
import type { EmailTemplate, OutgoingEmail } from "../outgoing-email.ts";
import type { TemplatedEmail } from "./render-email.ts";
import type { TemplateError } from "./template-error.ts";

/** What the thread renders: a template with sample data, or an email with its template. */
export type TemplateTask =
  | { readonly type: "check"; readonly category: SentEmailCategory; readonly template: EmailTemplate }
  | { readonly type: "render"; readonly email: TemplatedEmail & Pick<OutgoingEmail, "category" | "template"> };

export type TemplateAnswer =
  | { readonly type: "ready" }
  | { readonly type: "rendered"; readonly email: EmailTemplate }
  | {
      readonly type: "invalid";
      readonly part: TemplateError["part"];
      readonly problem: string;
      readonly line: number | undefined;
      readonly column: number | undefined;
    }
  | { readonly type: "failed"; readonly message: string };
