import type { EmailCategory } from "../../contract/index.ts";
import type { OutgoingEmail } from "../outgoing-email.ts";

const link = "https://reviews.example/starpost/v1/l/sample";

const products = [
  {
    product_id: "teapot-1",
    name: "Teapot “Morning”, 1.2 l",
    url: "https://shop.example/teapot",
    image_url: "https://shop.example/teapot.png",
    review_url: link,
  },
  {
    product_id: "cup-4",
    name: "كوب شاي",
    // Some shops do not provide product URLs.
    url: "",
    image_url: null,
    review_url: link,
  },
];

const order = { order_id: "100234", order_date: "2026-03-14", is_test: false, products };
const storeReview = { review_url: link };
const review = {
  title: "Pours well",
  content: 'It keeps <hot> for "hours" & hours.\nAnd it is beautiful.',
  score: 5,
  product_name: products[0]?.name ?? null,
};
const question = {
  content: "Does it fit into a dishwasher?",
  product_name: products[0]?.name ?? "",
  product_url: "https://shop.example/teapot",
};
const answer = { ...question, answer: "Yes, it does.\nThe lid as well." };

/** Sample template data of each category. */
export const sampleData: Readonly<Record<EmailCategory, OutgoingEmail["data"]>> = {
  map: order,
  resend_map: order,
  reminder: order,
  resend_reminder: order,
  custom_map: order,
  resend_custom_map: order,
  mail_after_service: storeReview,
  mail_after_invoice: storeReview,
  site_reminder: storeReview,
  testimonials_request: storeReview,
  anonymous_testimonials_request: { ...review, verify_url: link },
  comment_request: { ...review, comment_url: link },
  comment_notification: { ...review, comment: "Thank you!\nEnjoy your tea." },
  question_confirmation: { ...question, confirm_url: link },
  answer_request_shop_owner: { ...question, answer_url: link },
  answer_request_shoppers: { ...question, answer_url: link },
  answer_notification_shop_owner: answer,
  answer_notification_shoppers: answer,
};

/** Creates a sample email of a category. */
export function createSampleEmail(
  category: EmailCategory,
): Pick<OutgoingEmail, "category" | "to" | "store" | "data" | "unsubscribeUrl"> {
  return {
    category,
    to: { name: "Ana Müller", address: "ana@customer.example" },
    store: { name: "Tea & Cups", url: "https://shop.example/" },
    data: sampleData[category],
    unsubscribeUrl: `${link}-unsubscribe`,
  };
}
