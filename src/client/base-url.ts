import { ServiceError } from "../contract/index.ts";

/** Where a service is. */
export interface BaseUrl {
  /** Without a slash at its end; the contract's paths are put behind it. */
  readonly href: string;
  /** As a person is shown it: without a user name or password. */
  readonly shown: string;
}

/**
 * Reads the address of a service; it may have a path of its own.
 * @throws ServiceError `invalidParams` when it is no such address
 */
export function parseBaseUrl(text: string): BaseUrl {
  let url: URL;
  try {
    url = new URL(text);
  } catch (error) {
    throw refused(text, "is not a URL", error);
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw refused(text, "does not start with http:// or https://");
  }
  url.search = "";
  url.hash = "";
  const href = url.href.replace(/\/+$/, "");
  url.username = "";
  url.password = "";
  return { href, shown: url.href.replace(/\/+$/, "") };
}

function refused(text: string, why: string, cause?: unknown): ServiceError {
  return new ServiceError("invalidParams", `the service's address ${why}: ${text}`, {
    hint: "give the address as https://host, https://host:port or https://host/path",
    cause,
  });
}
