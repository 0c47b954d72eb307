// Limits that the storefront elements share with the service. Browsers load them, so this file imports nothing.

/** The maximum number of products in a call for ratings. */
export const maxRatedProducts = 100;

/** The maximum number of chosen reviews. */
export const maxChosenReviews = 50;

/** How many reviews a carousel has if none are chosen. */
export const carouselSize = 12;

/** Maximum lengths in forms, in UTF-16 code units, as browsers count. Assumed: shorter than the limits of the API. */
export const maxTitleLength = 150;
export const maxContentLength = 10_000;
export const maxNameLength = 100;

/** The maximum length of an email address, in characters. */
export const maxEmailLength = 254;

/** The maximum length of a text that is searched for, in UTF-16 code units. */
export const maxSearchLength = 200;
