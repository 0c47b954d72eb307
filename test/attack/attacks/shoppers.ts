import type { Attack, Send, Target } from "../attack.ts";
import { createReview, sendAll } from "../requests.ts";

const attempts = 500;

const countAccepted = (statuses: readonly number[]) => statuses.filter((status) => status < 300).length;

/** A stranger's review or question makes the shop send an email to any address. */
async function flood(
  { send, mail }: Target,
  request: (nth: number) => Parameters<Send>,
): Promise<{ accepted: number; sent: number }> {
  const before = mail.accepted.length;
  const replies = await sendAll(
    send,
    Array.from({ length: attempts }, (_, nth) => request(nth)),
  );
  const accepted = countAccepted(replies.map(({ status }) => status));
  await mail.settled(before + accepted);
  return { accepted, sent: mail.accepted.length - before };
}

/** The number of emails to strangers that a shop without any limit would notice. */
const tolerable = 60;

export const floodReviews: Attack = {
  name: "Have 500 strangers emailed about reviews",
  run: async (target) => {
    const { accepted, sent } = await flood(target, (nth) => {
      const texts = { display_name: "Buy at spam.example", review_title: "Spam", review_content: "Spam" };
      const review = { ...texts, email: `victim${nth}@mail.example`, review_score: 5 };
      const product = { sku: "pot", product_title: "Teapot", product_url: "https://shop.example/pot" };
      return ["POST", "/v1/widget/reviews", { appkey: target.account.appKey, ...product, ...review }];
    });
    return { result: `${accepted} reviews, ${sent} emails`, held: accepted <= tolerable && sent <= tolerable };
  },
};

export const floodQuestions: Attack = {
  name: "Have 500 strangers emailed about questions",
  run: async (target) => {
    const { accepted, sent } = await flood(target, (nth) => {
      const texts = { display_name: "Buy at spam.example", review_content: `Spam ${nth}` };
      const product = { product_id: "pot", product_title: "Teapot", product_url: "https://shop.example/pot" };
      const question = { ...texts, email: `asker${nth}@mail.example` };
      return ["POST", "/questions/send_confirmation_mail", { appkey: target.account.appKey, ...product, ...question }];
    });
    return { result: `${accepted} questions, ${sent} emails`, held: accepted <= tolerable && sent <= tolerable };
  },
};

export const floodOneAddress: Attack = {
  name: "Send one person 500 emails",
  run: async (target) => {
    const { accepted, sent } = await flood(target, (nth) => {
      const texts = { display_name: "Ann", review_title: "Spam", review_content: `Spam ${nth}` };
      const product = { sku: `pot${nth}`, product_title: "Teapot", product_url: "https://shop.example/pot" };
      const review = { ...texts, email: "victim@mail.example", review_score: 5 };
      return ["POST", "/v1/widget/reviews", { appkey: target.account.appKey, ...product, ...review }];
    });
    return { result: `${accepted} reviews, ${sent} emails`, held: sent <= 20 };
  },
};

export const floodVotes: Attack = {
  name: "Vote 500 times for a review",
  run: async (target) => {
    const reviewId = await createReview(target);
    const vote = ["GET", `/reviews/${reviewId}/vote/up`] as const;
    const replies = await sendAll(
      target.send,
      Array.from({ length: attempts }, () => [...vote]),
    );
    const accepted = countAccepted(replies.map(({ status }) => status));
    return { result: `${accepted} of ${attempts} votes`, held: accepted <= tolerable };
  },
};
