import type { FetchedPage } from "../doctor/shop/shop-checks.ts";
import type { PageRequest } from "../worker/page-request.ts";

/** What commands may ask of the application about the pages of shops. */
export interface ShopTools {
  /** Requests a page of any web server. @throws Error with a message for people, if there is no response */
  readonly requestPage: (request: PageRequest) => Promise<FetchedPage>;
}
