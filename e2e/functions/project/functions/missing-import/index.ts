import { nothing } from "./nothing.ts";

Deno.serve(() => new Response(nothing));
