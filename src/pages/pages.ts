import type * as z from "zod";
import type { EndpointOf, OperationName } from "../contract/index.ts";
import { clickPage, linkPage } from "./link-page.ts";
import { policies } from "./document.ts";
import { reviewRequestPage } from "./review-request-page.ts";
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
  /** Whether the value of a form says that something is wrong with what was sent. */
  readonly hasProblems?: (value: unknown) => boolean;
}

function page<N extends OperationName>(
  operation: N,
  render: (value: z.output<EndpointOf<N>["output"]>) => string,
  audience: keyof typeof policies,
  hasProblems?: (value: z.output<EndpointOf<N>["output"]>) => boolean,
): [OperationName, PageForm] {
  return [
    operation,
    {
      render: render as (value: unknown) => string,
      policy: policies[audience],
      isPersonal: audience !== "public",
      ...(hasProblems && { hasProblems: hasProblems as (value: unknown) => boolean }),
    },
  ];
}

/** The pages of the calls that have `htmlPaths`. */
export const pages: ReadonlyMap<OperationName, PageForm> = new Map([
  page("reviews.top", topReviewsPage, "public"),
  page("seo.page", seoPage, "public"),
  page("links.show", linkPage, "personal"),
  page("links.follow", linkPage, "personal"),
  page("reviewRequests.show", reviewRequestPage, "form"),
  page("reviewRequests.write", reviewRequestPage, "form", ({ request }) => request.problems.length > 0),
  page("tracking.click", clickPage, "personal"),
  page("users.signedIn", signInPage, "personal"),
]);
