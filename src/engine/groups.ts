import type { contract } from "../contract/index.ts";
import type { Handlers } from "./handler.ts";

const unanswered = () => Promise.reject(new Error("not answered yet"));

export const groupHandlers: Handlers<typeof contract.groups> = {
  create: unanswered,
  list: unanswered,
  get: unanswered,
  update: unanswered,
  delete: unanswered,
};
