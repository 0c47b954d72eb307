import type { z } from "zod";
import type { EndpointOf, OperationName } from "../contract/index.ts";
import { linkPage } from "./link-page.ts";
import { policies } from "./document.ts";
import { seoPage } from "./seo-page.ts";
import { signInPage } from "./sign-in-page.ts";
import { topReviewsPage } from "./top-reviews-page.ts";

/** How a call's value is shown as a page. */
export interface PageForm {
  readonly render: (value: unknown) => string;
  /** What the page may load, for its `Content-Security-Policy`. */
  readonly policy: string;
  /** For one person alone, and not to be kept by anything on the way. */
  readonly isPersonal: boolean;
}

function page<N extends OperationName>(
  operation: N,
  render: (value: z.output<EndpointOf<N>["output"]>) => string,
  audience: keyof typeof policies,
): [OperationName, PageForm] {
  return [
    operation,
    {
      render: render as (value: unknown) => string,
      policy: policies[audience],
      isPersonal: audience === "personal",
    },
  ];
}

/** The pages of the calls that have `htmlPaths`. */
export const pages: ReadonlyMap<OperationName, PageForm> = new Map([
  page("reviews.top", topReviewsPage, "public"),
  page("seo.page", seoPage, "public"),
  page("links.show", linkPage, "personal"),
  page("links.follow", linkPage, "personal"),
  page("users.signedIn", signInPage, "personal"),
]);
