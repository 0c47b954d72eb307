import { ServiceError } from "../contract/index.ts";

/** Where a service is. */
export interface BaseUrl {
  /** Without a trailing slash. Paths of the contract are appended to it. */
  readonly href: string;
  /** As shown to users: without user name and password. */
  readonly shown: string;
}

/**
 * Parses the address of a service, which may contain a path.
 * @throws ServiceError `invalidParams`
 */
export function parseBaseUrl(text: string): BaseUrl {
  let url: URL;
  try {
    url = new URL(text);
  } catch (error) {
    throw invalidAddress(text, "is not a URL", error);
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw invalidAddress(text, "does not start with http:// or https://");
  }
  url.search = "";
  url.hash = "";
  const href = url.href.replace(/\/+$/, "");
  url.username = "";
  url.password = "";
  return { href, shown: url.href.replace(/\/+$/, "") };
}

function invalidAddress(text: string, reason: string, cause?: unknown): ServiceError {
  return new ServiceError("invalidParams", `the address of the service ${reason}: ${text}`, {
    hint: "use an address such as https://host, https://host:port, or https://host/path",
    cause,
  });
}
