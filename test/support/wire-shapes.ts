import { boolean, int, listOf, nullable, number, object, optional, someText, text, timestamp, url } from "./shape.ts";

/** The resources and fields of the specification ("Resources and their fields"), transcribed by hand. */

export const ok = { code: 200, message: "OK" };

const badge = { id: int, name: text, description: text, image_100: url, image_300: url };

export const userSummary = {
  id: int,
  display_name: someText,
  slug: text,
  social_image: nullable(url),
  is_social_connected: boolean,
  bio: nullable(text),
  score: int,
  badges: listOf(badge),
};

export const answer = {
  id: int,
  content: someText,
  store_owner_comment: boolean,
  answerer: userSummary,
  votes_up: int,
  votes_down: int,
  created_at: timestamp,
};

export const question = {
  id: int,
  content: someText,
  asker: userSummary,
  user_type: someText,
  created_at: timestamp,
  sorted_public_answers: listOf(answer),
};

const links = {
  facebook: nullable(text),
  twitter: nullable(text),
  linkedin: nullable(text),
  google_oauth2: nullable(text),
};

const accountImage = {
  id: int,
  image_url: text,
  big_image_url: text,
  image_content_type: text,
  image_width: int,
  image_height: int,
  imageable_type: text,
  imageable_id: int,
};

export const reviewFull = {
  id: int,
  content: text,
  title: text,
  score: int,
  user: userSummary,
  user_type: someText,
  users: [],
  products: listOf({
    Location_idx: [int, int],
    Product: {
      product_url: nullable(text),
      id: int,
      name: someText,
      slug: text,
      shorten_url: nullable(text),
      images: listOf({ id: int, image_url: text, big_image_url: text }),
      social_network_links: links,
      facebook_testemonials_page_product_url: nullable(text),
    },
  }),
  votes_up: int,
  votes_down: int,
  user_vote: int,
  created_at: timestamp,
  deleted: boolean,
  new: boolean,
  verified_buyer: boolean,
  archived: boolean,
  social_pushed: boolean,
  facebook_pushed: int,
  twitter_pushed: int,
  account: {
    id: int,
    domain: text,
    comments_display_name: text,
    map_image: optional(nullable(accountImage)),
    comments_avatar: optional(nullable(accountImage)),
  },
  products_apps: listOf({
    id: int,
    product_url: nullable(text),
    domain_key: someText,
    product: { id: int, name: someText },
  }),
};

export const reviewListed = {
  id: int,
  title: text,
  content: text,
  score: int,
  votes_up: int,
  votes_down: int,
  created_at: timestamp,
  updated_at: timestamp,
  sku: someText,
  name: someText,
  email: someText,
  reviewer_type: someText,
  deleted: boolean,
  user_reference: nullable(text),
};

const comment = { id: int, content: someText, created_at: timestamp, comments_avatar: nullable(object) };

/** Without a comment, the field may be missing or null. */
export const reviewInWidget = {
  id: int,
  score: int,
  votes_up: int,
  votes_down: int,
  content: text,
  title: text,
  created_at: timestamp,
  verified_buyer: boolean,
  source_review_id: nullable(int),
  custom_fields: nullable(object),
  product_id: int,
  images_data: listOf({ id: int, thumb_url: url, original_url: url }),
  user: {
    user_id: int,
    display_name: someText,
    social_image: nullable(url),
    user_type: someText,
    is_social_connected: int,
  },
  comment: optional(nullable(comment)),
};

/** "Site-review items omit some of these fields." */
export const siteReviewInWidget = {
  ...reviewInWidget,
  source_review_id: optional(reviewInWidget.source_review_id),
  custom_fields: optional(reviewInWidget.custom_fields),
  product_id: optional(nullable(int)),
  images_data: optional(reviewInWidget.images_data),
};

export const widgetBottomLine = {
  total_review: int,
  average_score: number,
  star_distribution: { "1": int, "2": int, "3": int, "4": int, "5": int },
  custom_fields_bottomline: nullable(object),
};

export const widgetProduct = {
  id: int,
  domain_key: someText,
  name: someText,
  social_links: links,
  embedded_widget_link: nullable(text),
  testimonials_product_link: nullable(text),
  product_link: nullable(text),
};

export const widget = {
  pagination: { page: int, per_page: int, total: int },
  bottomline: widgetBottomLine,
  products: listOf(widgetProduct),
  product_tags: [],
  reviews: listOf(reviewInWidget),
};

export const topReview = {
  id: int,
  product_id: int,
  featured_image_id: nullable(int),
  image: int,
  good_length: int,
  title: text,
  content: text,
  score: int,
  created_at: timestamp,
  product_url: nullable(text),
  image_url: nullable(text),
};

export const promotedProduct = {
  products_app_id: int,
  url: text,
  price: number,
  currency: text,
  type: text,
  name: someText,
  destination_app_key: someText,
  position: int,
  source_products_app_id: nullable(int),
  matching_algorithm: nullable(text),
  domain_key: someText,
  image_title: text,
  average_score: number,
  total_review: int,
  image: text,
};

export const missedProduct = {
  id: int,
  product_name: someText,
  product_sku: someText,
  user_email: someText,
  user_display_name: someText,
  missed_product_date: timestamp,
  order_id: someText,
  purchase_date: timestamp,
  mail_delivery_date: nullable(timestamp),
};

export const emailCounters = {
  delivered: int,
  unsubscribes: int,
  invalid_email: int,
  bounces: int,
  repeat_unsubscribes: int,
  unique_clicks: int,
  blocked: int,
  spam_drop: int,
  repeat_bounces: int,
  repeat_spamreports: int,
  requests: int,
  spamreports: int,
  clicks: int,
  opens: int,
  unique_opens: int,
};
