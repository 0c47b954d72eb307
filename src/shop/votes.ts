import { call, explain } from "./controls.ts";
import { h } from "./dom.ts";
import type { Context } from "./element.ts";

/**
 * Buttons to vote on a review or an answer.
 * @param path where the service counts the votes: `/reviews/1`
 * @param announce has a screen reader say a text
 */
export function drawVotes(
  path: string,
  { votes_up: up, votes_down: down }: { readonly votes_up: number; readonly votes_down: number },
  context: Context,
  announce: (text: string) => void,
): HTMLElement {
  const { t, language } = context;
  const problem = h("p", { class: "problem", role: "alert" });
  const counts = { up, down };
  const vote = async (type: "up" | "down") => {
    for (const button of Object.values(buttons)) button.ariaDisabled = "true";
    try {
      await call(context, `${path}/vote/${type}`);
      counts[type] += 1;
      buttons[type].ariaPressed = "true";
      label(type);
      problem.textContent = "";
      announce(t("shop.reviews.voted"));
    } catch (error) {
      for (const button of Object.values(buttons)) button.ariaDisabled = null;
      problem.textContent = explain(error, context);
    }
  };
  const label = (type: "up" | "down") =>
    (buttons[type].textContent = `${t(`shop.reviews.vote.${type}`)} · ${counts[type].toLocaleString(language)}`);
  const draw = (type: "up" | "down") => {
    const onclick = () => buttons[type].ariaDisabled !== "true" && void vote(type);
    return h("button", { type: "button", part: "button", onclick });
  };
  const buttons = { up: draw("up"), down: draw("down") };
  label("up");
  label("down");
  return h("div", { class: "votes" }, buttons.up, buttons.down, problem);
}
