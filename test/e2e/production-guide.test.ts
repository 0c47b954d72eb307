import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findFreePort } from "../support/loopback.ts";
import { startMailServer } from "../support/mail-server.ts";
import { runLine } from "../support/readme.ts";

const page = readFileSync(resolve("docs/guides/production.md"), "utf8");

/** The shell commands of the steps, without those for PostgreSQL and with the settings of email in the file. */
function readSteps(): string {
  const steps = page.split(/^## /m).filter((step) => /^(?:\d|Upgrades)/.test(step) && !step.startsWith("2. "));
  const blocks = steps.flatMap((step) => [...step.matchAll(/^```sh\n(.*?)^```/gms)].map(([, body = ""]) => body));
  return blocks
    .map((block) => (block.startsWith("STARPOST_") ? `cat >> /etc/starpost.env <<'END'\n${block}END\n` : block))
    .join("\n");
}

/**
 * Programs that need root or systemd. Each fails if a step that it needs is missing: the user for `install` and `runuser`, the
 * unit and its settings for `systemctl`.
 */
const programs: Readonly<Record<string, string>> = {
  npm: `mkdir -p $ROOT/opt/starpost/bin $ROOT/opt/starpost/lib/node_modules
    ln -sfn $REPOSITORY $ROOT/opt/starpost/lib/node_modules/starpost
    ln -sf $REPOSITORY/bin/starpost.js $ROOT/opt/starpost/bin/starpost`,
  useradd: `for last; do :; done; touch $ROOT/user-$last`,
  install: `args=()
    while [ $# -gt 0 ]; do
      case $1 in -o | -g) test -e $ROOT/user-$2; shift 2 ;; *) args+=("$1"); shift ;; esac
    done
    exec /usr/bin/install "\${args[@]}"`,
  runuser: `test "$1 $3" = "-u --" && test -e $ROOT/user-$2; shift 3; exec "$@"`,
  systemctl: `unit=$ROOT/etc/systemd/system/starpost.service
    start() {
      set -a; . $(sed -n 's/^EnvironmentFile=//p' $unit); set +a
      $(sed -n 's/^ExecStart=//p' $unit) > $ROOT/log 2>&1 &
      echo $! > $ROOT/pid
    }
    stop() { kill $(cat $ROOT/pid); while kill -0 $(cat $ROOT/pid) 2>/dev/null; do sleep 0.05; done; }
    case $1 in
      daemon-reload) test -e $unit && touch $ROOT/reloaded ;;
      enable) test -e $ROOT/reloaded && start ;;
      *) "$1" ;;
    esac`,
};

test("the steps of the production guide work in their order", async () => {
  const root = mkdtempSync(join(tmpdir(), "starpost-production-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));
  const smtp = await startMailServer();
  onTestFinished(() => smtp.close());
  const bin = join(root, "programs");
  for (const folder of [
    bin,
    ...["etc/systemd/system", "usr/local/bin", "var/lib", "var/backups"].map((path) => join(root, path)),
  ])
    mkdirSync(folder, { recursive: true });
  for (const [name, body] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/bash\nset -e\n${body}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const inRoot = (text: string) => text.replaceAll(/(?<![\w/])\/(?=(?:opt|etc|var)\/|usr\/local\/bin)/g, `${root}/`);
  const unit = inRoot(readFileSync(resolve("docs/operations/starpost.service"), "utf8"));
  const port = String(await findFreePort());
  const settings = "STARPOST_SMTP_TLS=none\nSTARPOST_SMTP_HOST=127.0.0.1\n";
  const commands = inRoot(readSteps())
    .replaceAll("8080", port)
    .replaceAll("<app_key>", "$(starpost account list --json --jq '.[0].app_key')")
    .replaceAll("STARPOST_SMTP_HOST=smtp.shop.example\n", `${settings}STARPOST_SMTP_PORT=${smtp.port}\n`)
    .replaceAll(
      /^cp .*starpost\.service .*$/gm,
      `cat > ${root}/etc/systemd/system/starpost.service <<'UNIT'\n${unit.replaceAll("8080", port)}UNIT`,
    );
  const env = {
    ROOT: root,
    REPOSITORY: resolve("."),
    HOME: root,
    PATH: [bin, join(root, "usr/local/bin"), dirname(process.execPath), process.env["PATH"] ?? ""].join(":"),
  };
  const { exitCode, output } = await runLine(`set -euo pipefail; trap 'kill $(cat ${root}/pid)' EXIT\n${commands}`, {
    cwd: root,
    env,
  });
  expect(exitCode, output).toBe(0);
  expect(smtp.received.map(({ to }) => to)).toEqual(["you@shop.example"]);
}, 60_000);
