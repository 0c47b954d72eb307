import css from "./controls.css";
import { sheet } from "./dom.ts";
import { type Context, readResponse, type Refusal } from "./element.ts";

/** The design of buttons, fields, and problems. */
export const controls = sheet(css);

/** Calls an operation of the service. @param body sent as JSON by POST; without one, by GET @throws Refusal */
export function call<T>({ service }: Context, path: string, body?: object): Promise<T> {
  const headers = { "content-type": "application/json" };
  const post = body && { method: "POST", headers, body: JSON.stringify(body) };
  return readResponse<T>(fetch(service + path, post));
}

/** Explains to a shopper why a call failed. */
export function explain(error: unknown, { t }: Context): string {
  const { response } = error as Partial<Refusal>;
  if (response?.status !== 429) return t("shop.form.failed");
  const minutes = Math.max(1, Math.ceil(Number(response.headers.get("retry-after")) / 60));
  if (minutes < 60) return t("shop.form.wait", { minutes });
  return t("shop.form.wait_hours", { hours: Math.ceil(minutes / 60) });
}

/** The date of a timestamp. */
export function formatDate(timestamp: string, { language }: Context): string {
  return new Date(timestamp).toLocaleDateString(language, { dateStyle: "medium", timeZone: "UTC" });
}
