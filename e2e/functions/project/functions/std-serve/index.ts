import { serve } from "https://deno.land/std@0.168.0/http/server.ts";

serve(async (req) => {
  if (new URL(req.url).pathname.endsWith("/throws")) {
    throw new Error("thrown on purpose");
  }
  return new Response(`std ${req.method} ${await req.text()}`);
});
