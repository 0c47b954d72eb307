import type { contract } from "../contract/index.ts";
import type { Handlers } from "./handler.ts";

const unanswered = () => Promise.reject(new Error("not answered yet"));

export const batchHandlers: Handlers<typeof contract.batch> = {
  run: unanswered,
};
