import { value } from "alias/value.ts";

Deno.serve(() => new Response(value));
