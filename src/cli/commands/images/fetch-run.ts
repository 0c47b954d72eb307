import { listAll } from "../../../service/listings.ts";
import type { Service } from "../../../service/service.ts";
import type { OutputOf } from "../../../service/transport.ts";
import { countOf, formatNumber } from "../../../terminal/plural.ts";
import type { Context } from "../../program/context.ts";
import { ProgressMeter } from "../../program/output/progress-meter.ts";
import { listenForStop, type StopSignals } from "../../program/stop-signals.ts";

type LinkedImage = OutputOf<"images.linked">["images"][number];

interface FetchRequest {
  readonly products: readonly string[] | undefined;
  readonly concurrency: number;
  readonly rate: number | undefined;
  readonly isDryRun: boolean;
}

type FailedImage = LinkedImage & { readonly problem: string };

type Query = Readonly<Record<string, unknown>>;

/** Copies imported images, several at a time. Those that are stored already are not listed, so it can be repeated. */
export async function fetchImages(context: Context, { products, concurrency, rate, isDryRun }: FetchRequest) {
  const queries = products ? [...new Set(products)].map((product_id) => ({ product_id })) : [{}];
  if (isDryRun) return context.withService((service) => countByHost(context, service, queries));
  const { io, messages } = context;
  const signals = listenForStop(io, {
    onStop: (name) =>
      messages.info(
        name === "SIGINT"
          ? "Stopping after the photos in flight. Press Ctrl-C again to stop immediately."
          : "Stopping.",
      ),
  });
  const progress = await messages.openProgress();
  try {
    const connection = await context.connect({ rate });
    const { service } = connection;
    try {
      const totals = await Promise.all(queries.map((query) => service.images.linked({ ...query, limit: 1 })));
      const total = totals.reduce((sum, { total_images }) => sum + (total_images ?? 0), 0);
      const run = new FetchRun(service, signals, total);
      progress.show(() => run.describe(io.clock()));
      try {
        await run.copyAll(listImages(service, queries), concurrency, io.clock);
      } finally {
        progress.stop();
        run.report(context);
      }
      return run.result();
    } finally {
      await connection.close();
    }
  } finally {
    progress.stop();
    signals.release();
  }
}

async function* listImages(service: Service, queries: readonly Query[]): AsyncGenerator<LinkedImage> {
  for (const input of queries) {
    for await (const page of listAll<LinkedImage>(service, "images.linked", { input })) yield* page;
  }
}

async function countByHost({ messages }: Context, service: Service, queries: readonly Query[]) {
  const counts = new Map<string, number>();
  const reviews = new Set<number>();
  for await (const { url, review_id } of listImages(service, queries)) {
    const host = URL.canParse(url) ? new URL(url).host : url;
    counts.set(host, (counts.get(host) ?? 0) + 1);
    reviews.add(review_id);
  }
  const hosts = [...counts].map(([host, images]) => ({ host, images })).toSorted((a, b) => b.images - a.images);
  const images = hosts.reduce((sum, host) => sum + host.images, 0);
  if (images === 0) messages.info("No photos to copy.");
  else messages.info(`Would copy ${countOf(images, "photo")} of ${countOf(reviews.size, "review")}.`);
  return { dry_run: true as const, images, reviews: reviews.size, hosts };
}

/** Copies images, and counts what became of them. */
class FetchRun {
  readonly #service: Service;
  readonly #signals: StopSignals;
  readonly #total: number;
  readonly #meter = new ProgressMeter();
  readonly #failed: FailedImage[] = [];
  #copied = 0;
  #isInterrupted = false;

  constructor(service: Service, signals: StopSignals, total: number) {
    this.#service = service;
    this.#signals = signals;
    this.#total = total;
  }

  /** @throws the first error that does not concern a single image, after the images in flight */
  async copyAll(images: AsyncIterator<LinkedImage>, concurrency: number, clock: () => number): Promise<void> {
    const errors: unknown[] = [];
    const copyNext = async () => {
      while (errors.length === 0) {
        const { value: image, done = false } = await images.next();
        if (done) return;
        this.#isInterrupted ||= this.#signals.stop.aborted;
        if (this.#isInterrupted) return;
        await this.#copy(image as LinkedImage);
        const rows = this.#copied + this.#failed.length;
        this.#meter.add({ atMs: clock(), rows, calls: rows });
      }
    };
    const noteError = (error: unknown) => {
      if (this.#signals.stop.aborted) this.#isInterrupted = true;
      else errors.push(error);
    };
    await Promise.all(Array.from({ length: concurrency }, () => copyNext().catch(noteError)));
    if (errors.length > 0) throw errors[0];
  }

  async #copy(image: LinkedImage): Promise<void> {
    const { id: image_id } = image;
    const { problem } = (await this.#service.images.fetch({ image_id }, { signal: this.#signals.abort })).image;
    if (problem === null) this.#copied += 1;
    else this.#failed.push({ ...image, problem });
  }

  describe(nowMs: number): string {
    const done = this.#copied + this.#failed.length;
    const speed = this.#meter.speed(nowMs);
    return [
      `${formatNumber(done)} of ${countOf(this.#total, "photo")}`,
      ...(speed && speed.rows > 0 ? [`${speed.rows.toFixed(1)}/s`] : []),
      ...(this.#failed.length > 0 ? [`${formatNumber(this.#failed.length)} failed`] : []),
    ].join(" · ");
  }

  report({ messages }: Context): void {
    const done = this.#copied + this.#failed.length;
    const failed = this.#failed.length > 0 ? `; ${formatNumber(this.#failed.length)} failed` : "";
    const copied = `Copied ${countOf(this.#copied, "photo")}${failed}.`;
    if (this.#total === 0) messages.info("No photos to copy.");
    else if (this.#isInterrupted || done < this.#total) {
      messages.warn(`${copied} ${formatNumber(this.#total - done)} left. To continue, run the command again.`);
    } else if (this.#failed.length > 0) messages.warn(copied);
    else messages.info(copied);
  }

  result() {
    const state = this.#isInterrupted ? ("interrupted" as const) : ("finished" as const);
    return { state, copied: this.#copied, failed: this.#failed };
  }
}
