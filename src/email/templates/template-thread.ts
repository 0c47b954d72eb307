import { type MessagePort, parentPort } from "node:worker_threads";
import type { EmailTemplate, OutgoingEmail } from "../outgoing-email.ts";
import { checkTemplate } from "./check-template.ts";
import { getRenderer, renderOutgoing, type TemplatedEmail } from "./render-email.ts";
import { TemplateError } from "./template-error.ts";
import type { Brand, SentEmailCategory } from "../../contract/index.ts";

/** What the thread renders: a template with sample data, or an email with its template. */
export type TemplateTask =
  | {
      readonly type: "check";
      readonly category: SentEmailCategory;
      readonly template: EmailTemplate;
      readonly brand?: Brand | undefined;
    }
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

async function answer(task: TemplateTask): Promise<TemplateAnswer> {
  try {
    const { type } = task;
    const email = await (type === "check"
      ? checkTemplate(task.category, task.template, task.brand)
      : renderOutgoing(task.email));
    return { type: "rendered", email };
  } catch (error) {
    if (!(error instanceof TemplateError)) return { type: "failed", message: (error as Error).message };
    const { part, problem, line, column } = error;
    return { type: "invalid", part, problem, line, column };
  }
}

/** Renders templates, one after another. */
async function serve(port: MessagePort): Promise<void> {
  await getRenderer();
  port.on("message", (task: TemplateTask) => {
    void answer(task).then((message) => port.postMessage(message));
  });
  port.postMessage({ type: "ready" } satisfies TemplateAnswer);
}

if (parentPort) void serve(parentPort);
