import type { contract } from "../contract/index.ts";
import type { Handlers } from "./handler.ts";

const unanswered = () => Promise.reject(new Error("not answered yet"));

export const reviewHandlers: Handlers<typeof contract.reviews> = {
  create: unanswered,
  createNow: unanswered,
  listByUser: unanswered,
  list: unanswered,
  bottomLines: unanswered,
  bottomLine: unanswered,
  widget: unanswered,
  siteWidget: unanswered,
  vote: unanswered,
  get: unanswered,
  top: unanswered,
  comment: unanswered,
  setPublished: unanswered,
  history: unanswered,
};
