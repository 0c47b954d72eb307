import type { contract } from "../contract/index.ts";
import type { Handlers } from "./handler.ts";

const unanswered = () => Promise.reject(new Error("not answered yet"));

export const webhookHandlers: Handlers<typeof contract.webhooks> = {
  create: unanswered,
  list: unanswered,
  delete: unanswered,
};
