// Verifies the signature of a webhook. Copy `verify`; the rest is a receiver to try it with. Needs Node 18 or newer, and no package.
//
//     PORT=9000 WEBHOOK_SECRET=my-secret node entrupy-webhook.mjs
//
// WEBHOOK_SIGNATURE is the form of the subscription: sha256-base64 (the default), sha256-hex or hex.
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";

export const forms = {
  "sha256-base64": (code) => "SHA256:" + code.toString("base64"),
  "sha256-hex": (code) => "SHA256:" + code.toString("hex"),
  hex: (code) => code.toString("hex"),
};

/**
 * Whether `signature`, the header entrupy-signature or undefined, is that of `body`: the bytes as they came, before JSON is parsed.
 * With Express, take them with `express.raw({ type: "application/json" })`. `secret` is the subscription's secret_key.
 * Never throws for what a sender can send.
 */
export function verify(secret, body, signature, form = "sha256-base64") {
  const expected = Buffer.from(forms[form](createHmac("sha256", secret).update(body).digest()));
  const given = Buffer.from(typeof signature === "string" ? signature : "");
  // timingSafeEqual throws for unequal lengths. Else it takes the same time wherever the first difference is.
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function receiver(secret, form) {
  return createServer(async (request, response) => {
    const parts = [];
    let length = 0;
    try {
      for await (const part of request) {
        length += part.length;
        if (length > 1_000_000) return response.writeHead(413, { connection: "close" }).end();
        parts.push(part);
      }
    } catch {
      return; // the sender has gone
    }
    const body = Buffer.concat(parts);
    if (!verify(secret, body, request.headers["entrupy-signature"], form)) return response.writeHead(401).end();
    // From here on the body is the platform's: parse it, and put it into a queue. An answer that takes 10 s is too late.
    console.log(`verified ${body.length} bytes`);
    response.writeHead(204).end();
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { PORT = "9000", WEBHOOK_SECRET: secret, WEBHOOK_SIGNATURE: form = "sha256-base64" } = process.env;
  if (!secret) {
    console.error("WEBHOOK_SECRET must be the secret_key of the subscription");
    process.exit(1);
  }
  if (!Object.hasOwn(forms, form)) {
    console.error(`WEBHOOK_SIGNATURE must be one of ${Object.keys(forms).join(", ")}, not ${JSON.stringify(form)}`);
    process.exit(1);
  }
  const server = receiver(secret, form);
  server.listen(Number(PORT), "127.0.0.1", () => console.log(`listening on http://127.0.0.1:${server.address().port}`));
}
