import type { contract } from "../contract/index.ts";
import type { Handlers } from "./handler.ts";

const unanswered = () => Promise.reject(new Error("not answered yet"));

export const answerHandlers: Handlers<typeof contract.answers> = {
  vote: unanswered,
  create: unanswered,
};
