import type { contract } from "../contract/index.ts";
import type { Handlers } from "./handler.ts";

const unanswered = () => Promise.reject(new Error("not answered yet"));

export const linkHandlers: Handlers<typeof contract.links> = {
  show: unanswered,
  follow: unanswered,
};
