import type * as z from "zod";
import type { EndpointOf } from "../contract/index.ts";
import { isolate } from "./bidi.ts";
import { markup } from "./markup.ts";
import { personalPage } from "./personal-page.ts";

/**
 * The page after signing in; it shows the signed-in account.
 * Assumed: this page takes the place of the store owner's admin pages, which this server does not have.
 */
export function signInPage({ account }: z.output<EndpointOf<"users.signedIn">["output"]>): string {
  if (!account) {
    return personalPage(
      "This sign-in link no longer works",
      markup`<p>A sign-in link is valid for a few minutes. Request a new one.</p>`,
    );
  }
  const { display_name, email, app_key } = account;
  const user = markup`${isolate(display_name ?? "the owner")}${email !== null && markup` (${isolate(email)})`}`;
  return personalPage(
    "Signed in",
    markup`<p>You are signed in as ${user}, with the app key <code>${app_key}</code>.</p>
<p>This server has no admin pages.</p>`,
  );
}
