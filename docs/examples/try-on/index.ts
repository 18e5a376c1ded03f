// An endpoint for generated pictures (docs/generator.md) as an edge function: it dresses the person of the first photo in an outfit, garment by
// garment, with the service that the query names. `?with=fashn` rents FASHN's API (docs.fashn.ai), with FASHN_API_KEY. `?with=cog` calls a
// model in a container that Cog has built and that you run, such as IDM-VTON (replicate.com/cuuupid/idm-vton), at COG_URL.

interface Picture {
  role: "person" | "item";
  label: string | null;
  url: string;
}

interface PictureRequest {
  pictures: Picture[];
  callback: { token: string; picture_url: string; progress_url: string; failure_url: string };
}

/** A failure in words for the owner of the picture. */
class Refusal extends Error {
  constructor(
    message: string,
    readonly retry: boolean,
  ) {
    super(message);
  }
}

const encoder = new TextEncoder();
/** Seconds that a request may be old; later it is somebody's copy. */
const oldest = 300;
/** Each garment is a call that is paid for. */
const mostGarments = 3;
/** What is not worn where these models draw: they know tops, bottoms and dresses. */
const left = /shoe|sneaker|boot|sandal|loafer|heel|bag|tote|clutch|belt|watch|ring|necklace|bracelet|glasses|hat\b|cap\b|beanie|scarf|glove/i;

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

/** Whether the server has signed this body: Standard Webhooks, with one of the keys in GENERATOR_SECRETS. */
async function isGenuine(headers: Headers, body: string): Promise<boolean> {
  const [id, time] = [headers.get("webhook-id"), headers.get("webhook-timestamp")];
  if (!(Math.abs(Date.now() / 1000 - Number(time)) < oldest)) return false;
  const signatures = (headers.get("webhook-signature") ?? "").split(" ");
  for (const secret of (Deno.env.get("GENERATOR_SECRETS") ?? "").split("|").filter(Boolean)) {
    const hmac = { name: "HMAC", hash: "SHA-256" };
    const raw = bytesOf(secret.trim().replace("v1,whsec_", ""));
    const key = await crypto.subtle.importKey("raw", raw, hmac, false, ["verify"]);
    for (const signature of signatures.filter((one) => one.startsWith("v1,"))) {
      const text = encoder.encode(`${id}.${time}.${body}`);
      if (await crypto.subtle.verify("HMAC", key, bytesOf(signature.slice(3)), text)) return true;
    }
  }
  return false;
}

async function readJson(response: Response) {
  const body = await response.json().catch(() => ({}));
  if (response.ok) return body;
  console.error(`the service answered ${response.status}`, body);
  throw new Refusal("The picture service cannot be used at the moment.", response.status === 429 || response.status >= 500);
}

/** Dresses the person in one garment, and returns the address of the picture. */
type Dress = (person: string, garment: Picture) => Promise<string>;

/** States of a picture at FASHN that is still to come; every other one is final. */
const waiting = ["starting", "in_queue", "processing"];

const withFashn: Dress = async (person, garment) => {
  const service = Deno.env.get("FASHN_URL") ?? "https://api.fashn.ai";
  const authorization = `Bearer ${Deno.env.get("FASHN_API_KEY")}`;
  const { id } = await readJson(
    await fetch(`${service}/v1/run`, {
      method: "POST",
      headers: { authorization, "content-type": "application/json" },
      body: JSON.stringify({
        model_name: "tryon-v1.6",
        inputs: { model_image: person, garment_image: garment.url, output_format: "jpeg" },
      }),
    }),
  );
  for (;;) {
    await new Promise((wake) => setTimeout(wake, 2000));
    const status = await readJson(
      await fetch(`${service}/v1/status/${id}`, { headers: { authorization } }),
    );
    if (status.status === "completed") return status.output[0];
    if (waiting.includes(status.status)) continue;
    console.error(`FASHN answered ${status.status}`, status.error);
    const isPassing = ["PipelineError", "ThirdPartyError"].includes(status.error?.name);
    throw new Refusal(`The picture could not be drawn with ${garment.label ?? "an item"}.`, isPassing);
  }
};

const withCog: Dress = async (person, garment) => {
  const label = garment.label ?? "a garment";
  const isDress = /dress|jumpsuit|overall/i.test(label);
  const isBelow = /trouser|jean|skirt|short|pant/i.test(label);
  const prediction = await readJson(
    await fetch(`${Deno.env.get("COG_URL")}/predictions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        input: {
          human_img: person,
          garm_img: garment.url,
          garment_des: label,
          category: isDress ? "dresses" : isBelow ? "lower_body" : "upper_body",
        },
      }),
    }),
  );
  if (prediction.status === "succeeded") return [prediction.output].flat()[0];
  console.error("the model has failed", prediction.error);
  throw new Refusal(`The picture could not be drawn with ${label}.`, false);
};

async function draw({ pictures, callback }: PictureRequest, dress: Dress): Promise<void> {
  const report = (url: string, body: BodyInit) =>
    fetch(url, { method: "POST", headers: { authorization: `Bearer ${callback.token}` }, body });
  try {
    const person = pictures.find(({ role }) => role === "person");
    const garments = pictures.filter(({ role, label }) => role === "item" && !left.test(label ?? ""));
    if (person === undefined || garments.length === 0) {
      throw new Refusal("The outfit has nothing that can be tried on.", false);
    }
    const worn = garments.slice(0, mostGarments);
    let picture = person.url;
    for (const [index, garment] of worn.entries()) {
      picture = await dress(picture, garment);
      const progress = Math.round((90 * (index + 1)) / worn.length);
      await report(callback.progress_url, JSON.stringify({ progress }));
    }
    // Also of an address of the form data:…, which Cog returns.
    const drawn = await (await fetch(picture)).blob();
    const delivered = await report(callback.picture_url, drawn);
    if (!delivered.ok) throw new Refusal("The picture could not be delivered.", true);
  } catch (error) {
    if (!(error instanceof Refusal)) console.error(error);
    const { message, retry } =
      error instanceof Refusal ? error : new Refusal("The picture could not be drawn.", true);
    await report(callback.failure_url, JSON.stringify({ message, retry }));
  }
}

Deno.serve(async (request) => {
  const body = await request.text();
  // What is no signature at all cannot be decoded.
  const isOurs = await isGenuine(request.headers, body).catch(() => false);
  if (!isOurs) return new Response(null, { status: 401 });
  const service = new URL(request.url).searchParams.get("with");
  EdgeRuntime.waitUntil(draw(JSON.parse(body), service === "cog" ? withCog : withFashn));
  return new Response(null, { status: 202 });
});
