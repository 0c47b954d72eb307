import { usageError } from "../../../config/user-error.ts";
import { ServiceError } from "../../../contract/errors.ts";
import { command } from "../../program/command.ts";

export default command({
  summary: "Add a photo to a review",
  calls: "write",
  examples: [
    "starpost images upload --image-file teapot.jpg --image-upload-token 4f0a9c2e",
    "starpost images upload --image-file - --image-upload-token 4f0a9c2e --json < teapot.jpg",
  ],
  flags: {
    "image-file": {
      value: "<file>",
      description: "JPEG, PNG, WebP, or GIF file (- for standard input)",
      required: true,
    },
    "image-upload-token": {
      value: "<token>",
      description: "upload token that `reviews create` printed for the review, valid for an hour",
      required: true,
    },
  },
  notes: [
    "The service rotates the photo as its EXIF data says, removes all metadata (also the place where it was taken), and stores it in three sizes, of up to 1,200 pixels.",
  ],
  run: async (context, { flags }) => {
    const { imageLimits } = await import("../../../contract/reviews/images.ts");
    const { formatBytes } = await import("../../../terminal/plural.ts");
    const { InputFiles } = await import("../operations/input-file.ts");
    const file = flags["image-file"];
    const bytes = await new InputFiles(context.io).read(file, "--image-file");
    if (bytes.length > imageLimits.bytes) {
      const most = formatBytes(imageLimits.bytes);
      throw usageError(
        `${file === "-" ? "standard input" : file} is larger than ${most}`,
        `Reduce the size of the photo to at most ${most}.`,
      );
    }
    const input = { image_upload_token: flags["image-upload-token"], image: bytes.toString("base64") };
    return context.withService(async (service) => {
      try {
        return (await service.images.upload(input)).image;
      } catch (error) {
        // The upload token is the only credential of this call.
        if (!(error instanceof ServiceError) || error.kind !== "unauthorized") throw error;
        throw new ServiceError("unauthorized", "--image-upload-token: the token is invalid or has expired", {
          hint: "A token is valid for an hour after `reviews create` prints it.",
          cause: error,
        });
      }
    });
  },
});
