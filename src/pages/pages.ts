import type * as z from "zod";
import type { EndpointOf, OperationName } from "../contract/index.ts";
import { policies } from "./document.ts";
import { clickPage, linkPage } from "./link-page.ts";
import { reviewRequestPage } from "./review-request-page.ts";
import { seoPage } from "./seo-page.ts";
import { signInPage } from "./sign-in-page.ts";
import { topReviewsPage } from "./top-reviews-page.ts";

/** How the result of an operation is rendered as an HTML page. */
export interface PageDefinition {
  readonly render: (value: unknown) => string;
  /** The value of the `Content-Security-Policy` header. */
  readonly policy: string;
  /** Whether the page is for one person, and must not be cached. */
  readonly isPersonal: boolean;
  /** Whether the submitted form was invalid. */
  readonly hasProblems?: (value: unknown) => boolean;
}

function page<N extends OperationName>(
  operation: N,
  render: (value: z.output<EndpointOf<N>["output"]>) => string,
  audience: keyof typeof policies,
  hasProblems?: (value: z.output<EndpointOf<N>["output"]>) => boolean,
): [OperationName, PageDefinition] {
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

/** The pages of all operations with `htmlPaths`. */
export const pages: ReadonlyMap<OperationName, PageDefinition> = new Map([
  page("reviews.top", topReviewsPage, "public"),
  page("seo.page", seoPage, "public"),
  page("links.show", linkPage, "personal"),
  page("links.follow", linkPage, "personal"),
  page("reviewRequests.show", reviewRequestPage, "form"),
  page("reviewRequests.write", reviewRequestPage, "form", ({ request }) => request.problems.length > 0),
  page("tracking.click", clickPage, "personal"),
  page("users.signedIn", signInPage, "personal"),
]);
