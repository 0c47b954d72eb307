import type { contract } from "../contract/index.ts";
import type { Handlers } from "./handler.ts";

const unanswered = () => Promise.reject(new Error("not answered yet"));

export const seoHandlers: Handlers<typeof contract.seo> = {
  checkSubdomain: unanswered,
  pageUrl: unanswered,
  page: unanswered,
};
