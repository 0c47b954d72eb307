import type { ErrorKind } from "../contract/index.ts";
import { type PageContent, personalPage } from "./document.ts";
import { markup } from "./markup.ts";
import type { PageContext } from "./page-context.ts";

/** A refused request, as its page explains it. */
export interface PageError {
  readonly kind: ErrorKind;
  /** When to try again, in seconds. */
  readonly retryAfterSeconds: number | undefined;
  readonly requestId: string;
  /** Whether a form was submitted, whose texts the reader wants to keep. */
  readonly isForm: boolean;
}

const topics = {
  invalidParams: "invalid",
  recordNotFound: "missing",
  unknownPath: "missing",
  featureDisabled: "denied",
  unauthorized: "denied",
  invalidClient: "denied",
  roleDenied: "denied",
  bodyTooLarge: "large",
  tooManyRequests: "busy",
  unavailable: "unavailable",
  timeout: "unavailable",
  internal: "internal",
  storageFailed: "internal",
  unexpectedAnswer: "internal",
} as const satisfies Partial<Record<ErrorKind, string>>;

/** Explains an error to a person with a browser. It never shows the message of the error, which is for developers. */
export function errorPage(
  { kind, retryAfterSeconds, requestId, isForm }: PageError,
  context: PageContext,
): PageContent {
  const { t, text } = context;
  const topic = kind in topics ? topics[kind as keyof typeof topics] : "invalid";
  const minutes = Math.ceil((retryAfterSeconds ?? 0) / 60);
  const wait =
    retryAfterSeconds !== undefined &&
    (minutes > 1 ? t("page.error.minutes", { count: minutes }) : t("page.error.seconds", { count: retryAfterSeconds }));
  return personalPage(
    text(`page.error.${topic}_title`),
    markup`<p>${t(`page.error.${topic}`)}</p>
${wait && markup`<p>${wait}</p>`}
${isForm && markup`<p>${t("page.error.form")}</p>`}
<p class="hint">${t("page.error.request", { id: requestId })}</p>`,
  );
}
