import type { Writable } from "node:stream";
import type { FetchedPage } from "../doctor/shop/shop-checks.ts";
import type { PageRequest } from "../worker/page-request.ts";

/** What commands may ask of the application about the pages of shops. */
export interface ShopTools {
  /** Requests a page of any web server. @throws Error with a message for people, if there is no response */
  readonly requestPage: (request: PageRequest) => Promise<FetchedPage>;
  /** Serves a sample shop until it is closed. @throws UserError `failed` */
  readonly startDemo: (settings: DemoSettings) => Promise<RunningDemo>;
}

export interface DemoSettings {
  /** Of the shop; 0 selects a free port. */
  readonly port: number;
  readonly clock: () => number;
  readonly random: (bytes: number) => Buffer;
  readonly version: string;
  /** The destination of errors. */
  readonly log: Writable;
}

export interface RunningDemo {
  /** The address of the shop. */
  readonly url: string;
  readonly serviceUrl: string;
  readonly appKey: string;
  /** Finishes requests in flight, and deletes everything. */
  close(): Promise<void>;
  /** Deletes everything now, before the process ends. */
  remove(): void;
}
