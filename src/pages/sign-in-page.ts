import type * as z from "zod";
import type { EndpointOf } from "../contract/index.ts";
import { apart } from "./bidi.ts";
import { markup } from "./markup.ts";
import { personalPage } from "./personal-page.ts";

/**
 * Who is signed in.
 * Assumed: a page that says who is signed in stands where the store owner's admin pages would be; there are none.
 */
export function signInPage({ account }: z.output<EndpointOf<"users.signedIn">["output"]>): string {
  if (!account) {
    return personalPage(
      "This sign-in address no longer works",
      markup`<p>A sign-in address works for a few minutes. Ask for a new one.</p>`,
    );
  }
  const { display_name, email, app_key } = account;
  const who = markup`${apart(display_name ?? "the owner")}${email !== null && markup` (${apart(email)})`}`;
  return personalPage(
    "Signed in",
    markup`<p>You are signed in as ${who}, app key <code>${app_key}</code>.</p>
<p>This page is a placeholder: this server has no admin pages.</p>`,
  );
}
