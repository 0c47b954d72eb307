import type { EmailExplanation, RuleResult } from "../../../contract/index.ts";
import type { OutputOf } from "../../../service/transport.ts";
import { text, type View } from "../../../terminal/view.ts";

type Why = OutputOf<"emails.explain">;

const resultWords: Readonly<Record<RuleResult, string>> = {
  passed: "passed",
  decides: "DECIDES",
  off: "switched off",
  not_asked: "not asked",
};

const columns = ["product_id", "rule", "result", "says", "decided_by", "sentence"] as const;

/** What a person reads of an order's mails: each rule, and behind them the sentence for the customer. */
export function viewOfWhy(why: Why): View {
  const { order_id, email, customer_name, order_date } = why;
  const head = `Order ${order_id} of ${order_date.slice(0, 10)}, ${customer_name} <${email}>`;
  const lines = why.decisions.flatMap((decision) => ["", ...describeDecision(decision)]);
  const rows = why.decisions.flatMap((decision) =>
    decision.rules.map(({ name, result, says }) => ({
      product_id: decision.products.map((product) => product.product_id).join(" "),
      rule: name,
      result,
      says,
      decided_by: decision.decided_by,
      sentence: decision.sentence,
    })),
  );
  return text([head, ...lines], rows, columns);
}

function describeDecision({
  products,
  is_whole_order,
  mail_id,
  rules,
  sentence,
}: EmailExplanation): string[] {
  const named = products.map(({ name, product_id }) => `${name} (${product_id})`).join(", ");
  const about = is_whole_order ? `The whole order: ${named}` : named;
  const widest = Math.max(...rules.map(({ name }) => name.length));
  return [
    mail_id === null ? about : `${about}, mail ${mail_id}`,
    ...rules.map(({ name, result, says }) => {
      const why = result === "decides" ? `: ${says}` : "";
      return `  ${name.padEnd(widest)}  ${resultWords[result]}${why}`;
    }),
    ...products
      .filter(({ left_out_by }) => left_out_by !== null)
      .map(({ name, left_out_by }) => `  without ${name}: ${left_out_by}`),
    sentence,
  ];
}
