import type { contract } from "../contract/index.ts";
import type { Handlers } from "./handler.ts";

const unanswered = () => Promise.reject(new Error("not answered yet"));

export const questionHandlers: Handlers<typeof contract.questions> = {
  list: unanswered,
  bottomLine: unanswered,
  sendConfirmation: unanswered,
};
