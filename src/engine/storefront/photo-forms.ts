import {
  type contract,
  type ErrorKind,
  imageLimits,
  type PhotoForm,
  type PhotoProblem,
  ServiceError,
} from "../../contract/index.ts";
import { readAccountProfile } from "../accounts/account-profile.ts";
import { publicName } from "../accounts/shoppers.ts";
import { type CallContext, type HandlerContext, type Handlers, operation } from "../kernel/handler.ts";
import { readClaim } from "../kernel/signed-link.ts";
import { iso } from "../kernel/times.ts";
import { addImage, imageClaimKind, prepareImage, type PreparedImage } from "../reviews/images.ts";
import { photoFormUrl } from "../reviews/new-reviews.ts";
import { canProcessPhotos } from "../reviews/photo.ts";
import { describeStore } from "../reviews/requests/review-requests.ts";
import { stateOf } from "../reviews/review-index.ts";
import { findReview, showProducts } from "../reviews/review-parts.ts";

const gone: PhotoForm = {
  state: "gone",
  is_site: false,
  product: null,
  review: null,
  review_state: "waiting",
  is_confirmed: false,
  photos: 0,
  takes_photos: false,
  problem: null,
};

export const photoFormHandlers: Pick<Handlers<typeof contract.forms>, "photos" | "addPhoto"> = {
  /** Assumed: an expired or invalid token has the state `gone`; it is not an error. */
  photos: operation("forms.photos", {
    owner: { claim: "image_upload_token" },
    run: async ({ image_upload_token }, context) => ({ form: await readForm(image_upload_token, context) }),
    after: async ({ form }) => ({ form: await checkCodec(form) }),
  }),

  /** Adds a photo as `images.upload` does. @throws ServiceError `unavailable` */
  addPhoto: operation("forms.addPhoto", {
    owner: { claim: "image_upload_token" },
    counts: ({ image = "" }) => image !== "",
    prepare: async ({ image_upload_token: token, image = "" }, call) => ({
      token,
      ...(await prepare(token, image, call)),
    }),
    run: async ({ token, prepared, problem = null }, context) => {
      const found = prepared ? await add(prepared, context) : problem;
      const form = await readForm(token, context);
      const isAdded = form.state === "ready" && found === null;
      return { form: { ...form, problem: found }, url: isAdded ? photoFormUrl(token, context) : null };
    },
    after: async ({ form, url }) => ({ form: await checkCodec(form), url }),
  }),
};

/** The photo of a call after it was processed, or why it is not added. Neither of both if the token has expired. */
interface Prepared {
  readonly prepared?: PreparedImage;
  readonly problem?: PhotoProblem;
}

async function prepare(image_upload_token: string, image: string, call: CallContext): Promise<Prepared> {
  if (!readClaim(image_upload_token, [imageClaimKind], call)) return {};
  if (image === "") return { problem: "missing" };
  if (Buffer.byteLength(image, "base64") > imageLimits.bytes) return { problem: "size" };
  try {
    return { prepared: await prepareImage({ image_upload_token, image }, call) };
  } catch (error) {
    const problem = problemOf(error);
    return problem === null ? {} : { problem };
  }
}

/** @returns why the photo was not added */
async function add(prepared: PreparedImage, context: HandlerContext): Promise<PhotoProblem | null> {
  try {
    await addImage(prepared, context);
    return null;
  } catch (error) {
    return problemOf(error);
  }
}

const problems: Partial<Record<ErrorKind, PhotoProblem>> = { bodyTooLarge: "later", featureDisabled: "later" };

/** Why a photo is refused; null if its review does not exist. @throws all other errors */
function problemOf(error: unknown): PhotoProblem | null {
  if (!(error instanceof ServiceError)) throw error;
  const { kind, field, record } = error;
  if (record === "Review") return null;
  const problem = kind === "invalidParams" ? (field === "image" ? "type" : "many") : problems[kind];
  if (problem === undefined) throw error;
  return problem;
}

async function readForm(token: string, context: HandlerContext): Promise<PhotoForm> {
  const claim = readClaim(token, [imageClaimKind], context);
  if (!claim || claim.accountId !== context.ownerId) return gone;
  const found = await findReview(claim.id, context).catch((error: unknown) => {
    if (problemOf(error) === null) return undefined;
    throw error;
  });
  if (!found) return gone;
  const [{ review, author, product } = found] = await showProducts([found], claim.accountId, context);
  const { name, url, image_url } = product ?? describeStore(await readAccountProfile(context, claim.accountId));
  const { score, title, content, reviewer_type, moderation, images } = review;
  const is_confirmed = reviewer_type !== "anonymous";
  const isPublic = stateOf(review) === "published";
  return {
    state: "ready",
    is_site: product === undefined,
    product: { name, url, image_url },
    review: {
      score,
      title,
      content,
      display_name: publicName(author),
      verified_buyer: reviewer_type === "verified_buyer",
      created_at: iso(review.created_at),
    },
    review_state: isPublic ? "public" : !is_confirmed && moderation === null ? "unconfirmed" : "waiting",
    is_confirmed,
    photos: images,
    takes_photos: images < imageLimits.perReview,
    problem: null,
  };
}

/** Without the codec, no photo can be added. */
async function checkCodec(form: PhotoForm): Promise<PhotoForm> {
  return { ...form, takes_photos: form.takes_photos && (await canProcessPhotos()) };
}
